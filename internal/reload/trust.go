package reload

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// What git tracks of a state directory came with the repository, and is not
// handed to a model (case F61). Git is asked where people wait: when a session
// begins, before a compaction, and by commands. The end of a turn does not ask;
// it looks up what git said then.

// vettedFile keeps that.
const vettedFile = ".vetted"

// Keys of vettedFile. Its digest is known by its time: a repository cannot know
// at what moment it will be checked out, so it cannot vouch for itself.
const (
	keyTracked = "tracked" // what the repository brought, names with commas between
	keyVetted  = "digest"  // when a digest that it did not bring was written, in ns since 1970
)

// shippable is what makes up a delivery.
var shippable = []string{digestFile, armFile, configFile}

// vetting is what git says of a state directory.
type vetting struct {
	tracked []string
	wrote   time.Time // of the digest that was asked about
	err     error     // why there is no answer
}

// vet asks git. It may take as long as git.Patience, so it comes before the
// lock is taken.
func vet(dir state.Dir) vetting {
	ctx, cancel := context.WithTimeout(context.Background(), git.QueryTimeout)
	defer cancel()
	_, wrote := dir.Stat(digestFile) // first: what changes from here on is not vetted
	names, err := git.Tracked(ctx, dir.Path(""), shippable...)
	return vetting{names, wrote, err}
}

// against returns why nothing is handed on, nil if git has no objection.
func (v vetting) against() error {
	switch {
	case v.err != nil:
		return errors.New(textNoAnswer(v.err))
	case len(v.tracked) > 0:
		return errors.New(textShipped(v.tracked))
	}
	return nil
}

// write keeps the answer. Without one the last one stands.
func (v vetting) write(tx *state.Tx) error {
	var p state.Pairs
	switch {
	case v.err != nil:
		return nil
	case len(v.tracked) > 0:
		p = p.Set(keyTracked, strings.Join(v.tracked, ","))
	case !v.wrote.IsZero():
		p = p.Set(keyVetted, nanoseconds(v.wrote))
	default:
		return tx.Remove(vettedFile)
	}
	return rewrite(tx, vettedFile, p.Bytes())
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// trackedBefore returns what git tracked when it was last asked. Whatever stands
// in the place of the answer counts, so that a repository cannot keep it from
// being written.
func trackedBefore(from state.Reader) []string {
	names := strings.Split(pairs(from, vettedFile).Get(keyTracked), ",")
	odd, config := from.Kind(vettedFile) == state.Other, options.Tracked(from)
	var known []string
	for _, name := range shippable {
		if slices.Contains(names, name) || odd && name == digestFile || config && name == configFile {
			known = append(known, name)
		}
	}
	return known
}

// obstacle returns why a digest, the one that is there or one that is written
// in its place, would not get to the next session, as far as that can be told
// without asking git; nil if nothing is in the way.
func obstacle(from state.Reader) error {
	if names := trackedBefore(from); len(names) > 0 {
		return errors.New(textShipped(names))
	}
	if _, _, err := readDigest(from); err != nil {
		return err
	}
	return from.NotRegular(armFile)
}

// vouched reports whether the model may be told to read the digest: it is the
// session's own, or git was asked about it as it stands there.
func vouched(from state.Reader, session string) bool {
	doc, ok, err := readDigest(from)
	if !ok {
		return err == nil // there is nothing to read
	}
	_, wrote := from.Stat(digestFile)
	return session != "" && notes.FrontValue(doc, keyOwner) == session ||
		pairs(from, vettedFile).Get(keyVetted) == nanoseconds(wrote)
}

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
	"github.com/ccreload/ccreload/internal/term"
)

// What git tracks of a state directory came with the repository, and is not
// handed to a model (case F61). Git is asked where people wait: when a session
// begins, before a compaction, and by commands. The end of a turn does not ask;
// it looks up what git said then.

// trustFile keeps that.
const trustFile = ".vetted"

// Keys of trustFile. Its digest is known by its time: a repository cannot know
// at what moment it will be checked out, so it cannot vouch for itself.
const (
	keyTracked = "tracked" // what the repository brought, names with commas between
	keyUsed    = "digest"  // of usedFile: when the digest that was handed on last was written, likewise
	keyAuthor  = "author"  // of usedFile: the session that had written it; its owner is the one it was handed to
	keyTrusted = "digest"  // when a digest that it did not bring was written, in ns since 1970
)

// shippable is what makes up a delivery.
var shippable = []string{digestFile, armFile, configFile}

// files returns what git is asked about: that, and whatever else of ours is
// there.
func files(dir state.Dir) []string {
	list := slices.Clone(shippable)
	for _, name := range dir.Names() {
		if owns(name) && !state.Owns(name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// trust is what git says of a state directory.
type trust struct {
	asked   bool
	tracked []string
	wrote   time.Time // of the digest that was asked about
	err     error     // why there is no answer
}

// checkTrust asks git. It may take as long as git.QueryTimeout, so it comes
// before the lock is taken.
func checkTrust(dir state.Dir) trust {
	ctx, cancel := context.WithTimeout(context.Background(), git.QueryTimeout)
	defer cancel()
	_, wrote := dir.Stat(digestFile) // first: what changes from here on is not trusted
	names, err := git.Tracked(ctx, dir.Path(""), files(dir)...)
	return trust{true, names, wrote, err}
}

// reason returns why the digest is not trusted, nil if it is.
func (t trust) reason() error {
	switch {
	case t.err != nil:
		return errors.New(textNoAnswer(t.err))
	case len(t.tracked) > 0:
		return errors.New(textTracked(t.tracked))
	}
	return nil
}

// write keeps the answer. Without one the last one stands.
func (t trust) write(tx *state.Tx) error {
	var p state.Pairs
	switch {
	case !t.asked || t.err != nil:
		return nil
	case len(t.tracked) > 0:
		p = p.Set(keyTracked, strings.Join(t.tracked, ","))
	case !t.wrote.IsZero():
		p = p.Set(keyTrusted, nanoseconds(t.wrote))
	default:
		return tx.Remove(trustFile)
	}
	return tx.Update(trustFile, p.Bytes())
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// blockedBy returns why a digest, the one that is there or one that is written
// in its place, would not get to the next session, as far as that can be told
// without asking git; nil if nothing is in the way. Whatever stands in the place
// of git's last answer counts as one that names the digest, so that a
// repository cannot keep the answer from being written.
func blockedBy(from state.Reader) error {
	// A repository may have written that file, too.
	names := strings.Split(state.ReadPairs(from, trustFile).Get(keyTracked), ",")
	tracked := slices.DeleteFunc(names, func(n string) bool { return !owns(n) || n != term.OneLine(n) })
	if from.Kind(trustFile) == state.Other {
		tracked = append(tracked, digestFile)
	}
	if options.Tracked(from) && !slices.Contains(tracked, configFile) {
		tracked = append(tracked, configFile)
	}
	if len(tracked) > 0 {
		return errors.New(textTracked(tracked))
	}
	if _, _, err := readDigest(from); err != nil {
		return err
	}
	return from.NotRegular(armFile)
}

// trusted reports whether the model may be told to read the digest: it is the
// session's own, or git was asked about it as it stands there.
func trusted(from state.Reader, session string) bool {
	doc, ok, err := readDigest(from)
	if !ok {
		return err == nil // there is nothing to read
	}
	_, wrote := from.Stat(digestFile)
	return session != "" && notes.FrontValue(doc, keyOwner) == session ||
		state.ReadPairs(from, trustFile).Get(keyTrusted) == nanoseconds(wrote)
}

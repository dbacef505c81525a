package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ccreload/ccreload/internal/problem"
)

const (
	lockName  = "ccreload-lock"
	lockWait  = 2 * time.Minute // for another process at the same repository
	lockEvery = 20 * time.Millisecond
)

// ErrNotNow is what stands in the way today and may be gone tomorrow: an
// operation or changes of the user's, another process. Nothing was done.
var ErrNotNow = errors.New("not possible at the moment")

// notNow returns an ErrNotNow. The format takes %w.
func notNow(hint, format string, args ...any) error {
	return &problem.Error{Err: notNowError{fmt.Errorf(format, args...)}, Hint: hint}
}

// notNowError says what is in the way, without the words of ErrNotNow.
type notNowError struct{ error }

func (e notNowError) Unwrap() error        { return e.error }
func (e notNowError) Is(target error) bool { return target == ErrNotNow }

// Step, where a test has set it, is called before each change that is made to a
// worktree, a ref or a record, with what is about to happen: a test ends the
// process there.
var Step func(what string)

func step(what string) {
	if Step != nil {
		Step(what)
	}
}

// locked runs fn as the only one that adds, merges or removes worktrees of ours in
// the repository with the git directory common.
func locked(ctx context.Context, common string, fn func(fileLock) error) error {
	path := filepath.Join(common, lockName)
	ctx2, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		lock, ok, err := tryLock(path)
		if err != nil {
			return err
		}
		if ok {
			defer lock.release()
			return fn(lock)
		}
		select {
		case <-ctx2.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return notNow("try again in a moment", "another process is at work on the worktrees of %q", common)
		case <-time.After(lockEvery):
		}
	}
}

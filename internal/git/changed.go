package git

import "context"

// Changed returns the files, with slashes, that the branch of the worktree has
// changed since it began.
func (w *Worktree) Changed(ctx context.Context) ([]string, error) {
	repo, err := w.open()
	if err != nil {
		return nil, err
	}
	return repo.names(ctx, w.Base, "refs/heads/"+w.Branch)
}

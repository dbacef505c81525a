package handoff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/redact"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Options say what a run of the pipeline is to do.
type Options struct {
	Dir     string // where the work is: the working directory of the session
	Project string // whose .handoff arms and archives; "" means the top of the worktree
	Slug    string // as typed; part of the file name
	Kind    string // as typed; "" means found out

	DryRun         bool // write nothing, say what would be done
	NoCommit       bool
	Push           bool
	Auto           bool // started by the Stop hook: once a session
	NonInteractive bool // commit without asking, ask nothing

	// CommitTime is what hooks and signing of the commit may take; 0 means as
	// long as package git gives them.
	CommitTime time.Duration

	Session    string
	Transcript string   // of that session; "" when there is none
	Data       []string // the plugin's data directories
	Home       string   // paths below it are written with ~
	Settings   Settings
	Env        host.Env
	Host       host.Host
	// Ask puts a question to the person and returns the answer and whether
	// there was one. Nil: nobody is there.
	Ask func(question string) (yes, answered bool)
}

// Result is what a run did. Its JSON form is an interface for scripts.
type Result struct {
	Kind          Kind      `json:"handoff_type"`
	WriteDir      string    `json:"write_dir"`
	ArtifactPath  string    `json:"artifact_path"`
	NextSteps     []string  `json:"next_steps"`
	Git           GitStatus `json:"git_status"`
	CommitMessage string    `json:"commit_message"`
	CommitID      string    `json:"commit_id"`
	Actions       []string  `json:"actions_taken"`
	Errors        []string  `json:"errors"`
	Redacted      int       `json:"redacted"` // secrets taken out
	Prompt        string    `json:"prompt"`   // to paste into the next session
	// Skipped: there was nothing to do, and the first action says why.
	Skipped bool `json:"skipped"`
}

// GitStatus is the state of the repository when the run began.
type GitStatus struct {
	Branch string `json:"branch"`
	Dirty  bool   `json:"dirty"` // files differ, apart from artifacts
	Ahead  int    `json:"ahead"`
}

const (
	runTime = 55 * time.Second
	// fresh is how old an artifact may be for a second run to leave it alone.
	fresh = time.Minute
	// indexLockTimeout is how long a held index.lock is waited for.
	indexLockTimeout = time.Second
	lockPoll         = 50 * time.Millisecond
)

// Run writes the handoff of a session and, if it may, commits it. What goes
// wrong on the way is in Result.Errors, and the rest is done all the same; an
// error is about the input, and then nothing is done.
func Run(ctx context.Context, o Options) (Result, error) {
	r := newRun(o)
	var ok bool
	if r.Slug, ok = Slug(o.Slug); !ok {
		return r.result, problem.Input("name the topic with letters or digits", "slug %q has nothing that can stand in a file name", o.Slug)
	}
	if o.Kind != "" {
		if r.kind, ok = ParseKind(o.Kind); !ok {
			return r.result, problem.Input(fmt.Sprintf("use %s, %s or %s", PluginWork, MultiSession, SingleTask), "type %q is not known", o.Kind)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	if o.Auto && !o.DryRun {
		lock, err := o.lock()
		switch {
		case err != nil:
			// Without a lock this would happen again at every turn.
			r.fail(errNoLock, err)
			return r.report(), nil
		case lock == nil:
			r.skipped = isDone
			return r.report(), nil
		}
		defer lock.done(o.Env.Now())
	}
	r.survey(ctx)
	switch {
	case r.recent():
		r.skipped = isRecent
	case r.write(ctx):
		r.commit(ctx)
		r.push(ctx)
		r.record()
		r.arm()
	}
	return r.report(), nil
}

// Commit commits the newest handoff of a project after somebody has worked on
// it. It asks nothing: who calls it has decided. An error is about the input.
func Commit(ctx context.Context, o Options) (Result, error) {
	r := newRun(o)
	r.NonInteractive, r.Settings.Commit, r.consent = true, true, true
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	r.survey(ctx)
	last, ok := r.ledger().newest(r.Project)
	if !ok {
		return r.result, problem.Input("write one with `ccreload handoff run`", errNoDocument)
	}
	r.path, r.id, r.Session = last.Path, last.ID, last.Session
	r.Slug = slugIn(filepath.Base(r.path))
	r.at.Dir = filepath.Dir(r.path)
	r.result.WriteDir = r.at.Dir
	r.armed = isArmed(r.Project, r.path)
	if err := r.tidy(); err != nil {
		r.fail(errCommit, err)
		return r.report(), nil
	}
	r.commit(ctx)
	r.record()
	return r.report(), nil
}

// lock takes the lock of the session, one process at a time; nil means that
// the session has had its handoff.
func (o Options) lock() (l *sessionLock, err error) {
	take := func(*state.Tx) error {
		l, err = takeLock(o.Transcript, o.Session, o.Env.Now())
		return err
	}
	if busy := dirOf(o.Project).WithLock(lockWait, take); busy != nil && err == nil {
		return nil, busy
	}
	return l, err
}

// run is one run of the pipeline.
type run struct {
	Options
	outcome
	kind    Kind // asked for, "" for none
	now     time.Time
	git     gitFacts
	at      place
	id      string // of the document
	consent bool   // a person has said yes to the commit
	result  Result
}

func newRun(o Options) *run {
	return &run{
		Options: o, now: o.Env.Now(), outcome: outcome{dry: o.DryRun},
		result: Result{NextSteps: []string{}, Actions: []string{}, Errors: []string{}},
	}
}

func (r *run) report() Result {
	r.outcome.report(&r.result)
	return r.result
}

// survey finds out where the work is and what git says of it.
func (r *run) survey(ctx context.Context) {
	var err error
	if r.git, err = gatherGit(ctx, r.Dir); err != nil && !errors.Is(err, git.ErrNoRepo) {
		r.fail(errGit, err)
	}
	dir := state.RealPath(r.Dir)
	top := state.RealPath(cmp.Or(r.git.top(), r.Project, dir))
	if _, ok := state.Below(top, dir); !ok {
		top = dir
	}
	r.Project = cmp.Or(r.Project, top)
	r.at = locate(top, dir, r.Settings)
	r.at.Kind = cmp.Or(r.kind, r.at.Kind)
	if want := r.Settings.ArtifactDir; want != "" && !r.DryRun {
		if d, err := documentDir(top, want); err == nil {
			r.at.Dir = d
		} else {
			r.fail("%v", err)
		}
	}
	r.path = filepath.Join(r.at.Dir, artifactName(r.Slug))
	s := r.git.Status
	r.branch, r.upstream = s.Branch, s.Upstream
	r.result.Kind, r.result.WriteDir = r.at.Kind, r.at.Dir
	r.result.Git = GitStatus{Branch: s.Branch, Dirty: len(r.git.dirty()) > 0, Ahead: s.Ahead}
}

// recent reports whether a run has only just done all there is to do.
func (r *run) recent() bool {
	fi, err := os.Lstat(r.path)
	if err != nil || !fi.Mode().IsRegular() || r.result.Git.Dirty || r.now.Sub(fi.ModTime()).Abs() >= fresh {
		return false
	}
	content, err := readArtifact(r.path)
	return err == nil && r.ledger().judge(r.path, content) != foreign
}

func (r *run) ledger() ledger {
	var all ledger
	for _, dir := range r.Data {
		all = append(all, readLedger(state.NewDir(dir))...)
	}
	return all
}

// write makes the document, and reports whether there is one.
func (r *run) write(ctx context.Context) bool {
	facts, err := gatherSession(r.Transcript, r.ledger().since(r.Session))
	if err != nil {
		r.fail(errTranscript, err)
	}
	if err := r.git.describe(ctx); err != nil {
		r.fail(errGit, err)
	}
	titles, ok := headings[r.Settings.Language]
	if !ok {
		titles = headings["en"]
	}
	r.id = newID()
	doc := document{
		ID: r.id, Session: r.Session, At: r.at, Time: r.now,
		Git: r.git, Facts: facts, Home: r.Home, Headings: titles,
	}
	var text string
	text, r.redacted = doc.render()
	if r.DryRun {
		if isFile(r.path) {
			r.archived = r.path
		}
		r.written = true
		return true
	}
	if err := r.put(r.path, []byte(text)); err != nil {
		r.fail(errElsewhere, r.at.Dir, err)
		if r.path, err = r.putElsewhere([]byte(text)); err != nil {
			r.fail("%v", err)
			r.path = ""
			return false
		}
	}
	r.written = true
	return true
}

// put writes the document after archiving one that is in its place.
func (r *run) put(path string, text []byte) error {
	old, err := readArtifact(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf(errNotRegular, path)
	default:
		name, err := keepCopy(r.Project, filepath.Base(path), old, r.now)
		if err != nil {
			return fmt.Errorf(errNotArchived, filepath.Base(path), err)
		}
		r.archived = archiveOf(r.Project).Path(name)
	}
	return writeArtifact(path, text)
}

// putElsewhere writes the document where the user can still find it: in the
// project's state directory, the plugin's data directory, or among temporary
// files.
func (r *run) putElsewhere(text []byte) (path string, err error) {
	name := r.now.UTC().Format(stampFormat) + "-" + artifactName(r.Slug)
	var errs []error
	for _, dir := range append([]string{dirOf(r.Project).Path("")}, r.Data...) {
		err := state.NewDir(dir).WithLock(lockWait, func(tx *state.Tx) error { return tx.Write(name, text) })
		if err == nil {
			return filepath.Join(dir, name), nil
		}
		errs = append(errs, err)
	}
	dir, err := os.MkdirTemp("", "ccreload-handoff-")
	if err == nil {
		path = filepath.Join(dir, name)
		if err = writeArtifact(path, text); err == nil {
			return path, nil
		}
	}
	return "", errors.Join(append(errs, err)...)
}

// blockedBy returns what keeps a commit from being made at all; "" when one
// may be.
func (r *run) blockedBy(ctx context.Context) reason {
	repo, s := r.git.Repo, r.git.Status
	if repo == nil {
		return noRepository
	}
	rel, err := repo.Rel(r.path)
	switch op := repo.Operation(); {
	case s.Branch == "" && s.Commit == "":
		return noStatus
	case err != nil:
		return outOfWorktree
	case r.ignored(ctx, rel):
		return isIgnored
	case op != "":
		return reason(fmt.Sprintf(inProgress, op))
	case s.Unborn():
		return unbornBranch
	case s.Branch == "":
		return detachedHead
	}
	for waited := time.Duration(0); repo.IndexLocked(); waited += lockPoll {
		if waited >= indexLockTimeout || ctx.Err() != nil {
			return indexLocked
		}
		time.Sleep(lockPoll)
	}
	return ""
}

// ignored reports whether git ignores the document, which it does not if status
// has listed it.
func (r *run) ignored(ctx context.Context, rel string) bool {
	if _, listed := r.git.file(rel); listed {
		return false
	}
	ignored, err := r.git.Repo.Ignored(ctx, r.path)
	return ignored || err != nil
}

// commit commits the document and its companions, if everything allows it.
func (r *run) commit(ctx context.Context) {
	if !r.Settings.Commit {
		r.uncommitted = commitOff
		return
	}
	blocked := r.blockedBy(ctx)
	switch {
	case r.NoCommit:
		r.uncommitted, r.mayCommit = asAsked, blocked == ""
		return
	case blocked != "":
		r.fail("%s", blocked)
		return
	}
	paths := append([]string{r.path}, r.companions()...)
	for _, p := range paths {
		r.files = append(r.files, filepath.Base(p))
	}
	r.result.CommitMessage = textSubject(r.at.Kind, r.Slug)
	if r.DryRun {
		return
	}
	unattended := r.NonInteractive || r.Auto
	if !unattended {
		if r.uncommitted = r.ask(questionCommit, declined, nobodyThere, strings.Join(r.files, ", "), r.branch); r.uncommitted != "" {
			r.mayCommit = true
			return
		}
		r.consent = true
	}
	repo := *r.git.Repo
	repo.Unattended, repo.CommitTime = unattended, r.CommitTime
	made, err := repo.CommitOnly(ctx, r.git.Status.Commit, r.result.CommitMessage+"\n\n"+textBody(r.Session)+"\n", paths...)
	switch {
	case errors.Is(err, git.ErrNothing):
		r.uncommitted = unchanged
	case errors.Is(err, git.ErrIndexLocked):
		r.fail("%s", indexLocked)
	case err != nil:
		r.mayCommit = true
		r.fail(errCommit, r.clean(err))
	default:
		r.committed = made
		r.refreshIndex(ctx)
	}
}

// ask puts a question to the person and returns why the answer is no; "" for a
// yes.
func (r *run) ask(question string, no, nobody reason, args ...any) reason {
	yes, answered := false, false
	if r.Ask != nil {
		yes, answered = r.Ask(fmt.Sprintf(question, args...))
	}
	switch {
	case yes:
		return ""
	case answered:
		return no
	}
	return nobody
}

// refreshIndex has the user's index told of the commit: at once where a session
// or a person asked for it, for a person who commits in a terminal next would
// undo it otherwise. A script's run leaves the index byte for byte as it is, and
// says what is to be done; an event of a session after it does that, too.
func (r *run) refreshIndex(ctx context.Context) {
	if r.Auto || r.consent {
		r.indexKnows = r.git.Repo.RefreshIndex(ctx, r.committed) == nil
	}
	r.indexNoted = !r.indexKnows && len(r.Data) > 0 && notePending(r.Data[0], r.committed) == nil
}

// clean is an error without the secrets a hook may have printed.
func (r *run) clean(err error) string {
	d := document{Home: r.Home}
	return d.clean(err.Error())
}

// companions returns the paths of the companions that go into the commit:
// those that are there, differ, are not ignored (for then git status would not
// list them), and of which the user has staged nothing.
func (r *run) companions() []string {
	var out []string
	for _, name := range companions {
		path := filepath.Join(r.at.Dir, name)
		rel, err := r.git.Repo.Rel(path)
		if err != nil || !isFile(path) {
			continue
		}
		f, differs := r.git.file(rel)
		switch {
		case !differs:
		case !f.Untracked() && f.Staged != '.':
			r.fail(errPartStaged, name)
		default:
			out = append(out, path)
		}
	}
	return out
}

// push pushes the branch, if the person says yes to it.
func (r *run) push(ctx context.Context) {
	switch {
	case !r.Push:
		return
	case r.NonInteractive || r.Auto:
		r.fail("%s", pushUnasked)
		return
	case r.committed.Commit == "" && r.result.Git.Ahead == 0:
		r.unpushed = pushNothing
		return
	case r.DryRun:
		r.pushed = true
		return
	}
	if r.unpushed = r.ask(questionPush, pushDeclined, pushDeclined, r.branch, r.upstream); r.unpushed != "" {
		return
	}
	if err := r.git.Repo.Push(ctx, r.branch); err != nil {
		r.fail(errPush, r.clean(err))
		return
	}
	r.pushed = true
}

// record notes what the document looks like now: a commit hook may have
// reformatted it.
func (r *run) record() {
	if r.DryRun {
		return
	}
	content, err := readArtifact(r.path)
	if err == nil {
		err = recordAll(r.Data, entry{
			Path: r.path, Content: string(content), ID: r.id,
			Project: r.Project, Session: r.Session, Time: r.now,
		})
	}
	if err != nil {
		r.fail(errNotRecorded, err)
	}
}

// arm lets the next session know that something waits for it.
func (r *run) arm() {
	if r.DryRun {
		return
	}
	arm := handover.Arm{Owner: r.Session, Client: handover.Here(r.Host), Item: r.path}
	// The version of the host decides who shows the banner after /clear; one that
	// cannot be found out shows it now and at the first prompt.
	tail, _ := transcript.ReadTail(r.Transcript)
	err := dirOf(r.Project).WithLock(lockWait, func(tx *state.Tx) error {
		if err := arm.Put(tx); err != nil || tail.Version == "" {
			return err
		}
		return handover.NoteClient(tx, arm.Client, tail.Version)
	})
	if r.armed = err == nil; !r.armed {
		r.fail(errNotArmed, err)
	}
}

// isArmed reports whether the document at path waits for the next session.
func isArmed(project, path string) bool {
	arm, ok := handover.FindArm(dirOf(project))
	return ok && arm.Item == path
}

// tidy takes secrets out of what was written into the document by hand.
func (r *run) tidy() error {
	content, err := readArtifact(r.path)
	if err != nil {
		return err
	}
	d := document{Home: r.Home}
	text := d.clean(string(content))
	if r.redacted = redact.Count(text) - redact.Count(string(content)); text == string(content) {
		return nil
	}
	return writeArtifact(r.path, []byte(text))
}

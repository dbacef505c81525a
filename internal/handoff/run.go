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
	Projects   string   // the host's directory of transcripts, to look there where neither is known
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
	Prompt        string    `json:"prompt"`   // for a session that is not given the document
	Armed         bool      `json:"armed"`    // the next session is given it
	// Skipped: there was nothing to do, and the first action says why.
	Skipped bool `json:"skipped"`
}

// GitStatus is the state of the repository when the run began.
type GitStatus struct {
	Branch string `json:"branch"`
	Dirty  bool   `json:"dirty"` // files differ, apart from artifacts
	Ahead  int    `json:"ahead"`
	Remote bool   `json:"remote"` // there is somewhere to push to
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
	if err := r.leaveGit(); err != nil {
		return r.result, err
	}
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
	if !o.DryRun {
		git.Sweep(r.now)
	}
	if o.Auto && !o.DryRun {
		lock, err := r.lock()
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
		r.skipped, r.armed = isRecent, isArmed(r.Project, r.path)
	case r.write(ctx):
		r.commit(ctx)
		r.complete()
		r.push(ctx)
	}
	return r.report(), nil
}

// Commit commits the newest handoff of a project after somebody has worked on
// it. It asks nothing: who calls it has decided. An error is about the input.
func Commit(ctx context.Context, o Options) (Result, error) {
	r := newRun(o)
	if err := r.leaveGit(); err != nil {
		return r.result, err
	}
	r.NonInteractive, r.Settings.Commit, r.consent = true, true, true
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	git.Sweep(r.now)
	r.survey(ctx)
	last, ok := readLedgers(r.Data).newest(r.Project)
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
	r.complete()
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
	text    string // of the document, as it is in the ledger
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

// leaveGit moves a run that was started among the files of git itself, where
// nothing is to be written, to the project or the worktree around them.
func (o *Options) leaveGit() error {
	if o.Project != "" && git.Inside(o.Project) != "" {
		o.Project = ""
	}
	inside := git.Inside(o.Dir)
	switch {
	case inside == "":
	case o.Project != "":
		o.Dir = o.Project
	case filepath.Base(inside) == ".git":
		o.Dir = filepath.Dir(inside)
	default:
		return problem.Input("run this in a worktree of it", "%q is a bare repository, which has no place for a handoff document", inside)
	}
	return nil
}

// survey finds out where the work is and what git says of it.
func (r *run) survey(ctx context.Context) {
	if r.git = gatherGit(ctx, r.Dir); r.git.Err != nil && !r.git.absent() {
		r.fail(errGit, r.git.Err)
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
	r.branch, r.upstream, r.remote = s.Branch, s.Upstream, r.git.Repo != nil && r.git.Repo.HasRemote
	r.result.Kind, r.result.WriteDir = r.at.Kind, r.at.Dir
	r.result.Git = GitStatus{Branch: s.Branch, Dirty: len(r.git.dirty()) > 0, Ahead: s.Ahead, Remote: r.remote}
}

// recent reports whether a run has only just done all there is to do.
func (r *run) recent() bool {
	fi, err := os.Lstat(r.path)
	if err != nil || !fi.Mode().IsRegular() || r.result.Git.Dirty || r.now.Sub(fi.ModTime()).Abs() >= fresh {
		return false
	}
	content, err := readArtifact(r.path)
	return err == nil && readLedgers(r.Data).judge(r.path, content) != foreign
}

// nothingNew reports whether a document would have nothing to say, and one that
// has is there.
func (r *run) nothingNew(f transcript.Facts) bool {
	if len(f.Prompts) > 0 || len(f.Commands) > 0 || len(f.Todo) > 0 || f.Answer != "" || r.result.Git.Dirty {
		return false
	}
	content, err := readArtifact(r.path)
	return err == nil && readLedgers(r.Data).judge(r.path, content) != foreign && request(string(content)) != ""
}

// keep leaves the document that is there to the next session.
func (r *run) keep() {
	r.skipped, r.armed = isThin, isArmed(r.Project, r.path)
	if r.armed || r.DryRun {
		return
	}
	err := dirOf(r.Project).WithLock(lockWait, r.arm)
	if r.armed = err == nil; err != nil {
		r.fail(errNotArmed, err)
	}
}

// write makes the document, and reports whether there is a new one.
func (r *run) write(ctx context.Context) bool {
	if r.Session == "" && r.Transcript == "" && r.Projects != "" {
		r.findSession()
	}
	known := readLedgers(r.Data)
	facts, err := gatherSession(r.Transcript, known.since(r.Session))
	if err != nil {
		r.fail(errTranscript, err)
	}
	if r.nothingNew(facts) {
		r.keep()
		return false
	}
	if err := r.git.describe(ctx); err != nil {
		r.fail(errGit, err)
	}
	r.id = newID()
	doc := document{
		ID: r.id, Session: r.Session, At: r.at, Time: r.now,
		Git: r.git, Facts: facts, Home: r.Home, Headings: headingsIn(r.Settings.Language),
	}
	doc.Left = doc.left(known.last(r.Project))
	r.text, r.redacted = doc.render()
	if r.DryRun {
		if isFile(r.path) {
			r.archived = r.path
		}
		r.written = true
		return true
	}
	if err := r.put(); err != nil {
		r.fail(errElsewhere, r.at.Dir, err)
		if err := r.putElsewhere(); err != nil {
			r.fail("%v", err)
			r.path = ""
			return false
		}
	}
	return true
}

// put writes the document after archiving one that is in its place.
func (r *run) put() error {
	name := filepath.Base(r.path)
	switch old, err := readArtifact(r.path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf(errNotRegular, r.path)
	default:
		copied, err := keepCopy(r.Project, name, old, r.now)
		if err != nil {
			return fmt.Errorf(errNotArchived, name, err)
		}
		r.archived = archiveOf(r.Project).Path(copied)
	}
	return r.writeAt(r.path, func(tx *state.Tx) error {
		if tx != nil {
			sweepTemporaries(r.path) // nobody else is writing now
		}
		return writeArtifact(r.path, []byte(r.text))
	})
}

// putElsewhere writes the document where the user can still find it: in the
// project's state directory, the plugin's data directory, or among temporary
// files.
func (r *run) putElsewhere() error {
	name := r.now.UTC().Format(stampFormat) + "-" + artifactName(r.Slug)
	write := func(tx *state.Tx) error { return tx.Write(name, []byte(r.text)) }
	var errs []error
	for i, dir := range append([]string{dirOf(r.Project).Path("")}, r.Data...) {
		err := r.writeAt(filepath.Join(dir, name), func(tx *state.Tx) error {
			if i == 0 && tx != nil {
				return write(tx)
			}
			return state.NewDir(dir).WithLock(lockWait, write)
		})
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	dir, err := os.MkdirTemp("", "ccreload-handoff-")
	if err == nil {
		err = r.writeAt(filepath.Join(dir, name), func(*state.Tx) error { return writeArtifact(r.path, []byte(r.text)) })
	}
	if err == nil {
		return nil
	}
	return errors.Join(append(errs, err)...)
}

// findSession takes the newest session of the worktree for the one that is
// handed over, since a plain shell does not name any, and says so.
func (r *run) findSession() {
	path, when := newestTranscript(r.Projects, r.at.Top, r.git.Repo != nil)
	if path == "" {
		return
	}
	r.Transcript, r.Session = path, strings.TrimSuffix(filepath.Base(path), ".jsonl")
	r.session = when.Local().Format("2006-01-02 15:04")
}

// writeAt has the document written to path, after all that has to be so as soon
// as somebody can see it: that it waits for the next session, and that it is
// known as ours. A run that is killed leaves such a document or none. The
// project's lock is held, except where it cannot be had, and then tx is nil.
func (r *run) writeAt(path string, write func(tx *state.Tx) error) error {
	r.path = path
	var unrecorded, failed error
	unarmed := dirOf(r.Project).WithLock(lockWait, func(tx *state.Tx) error {
		unarmed := r.arm(tx)
		unrecorded = r.record(r.text)
		failed = write(tx)
		r.written = failed == nil
		return unarmed
	})
	if !r.written && failed == nil {
		unrecorded = r.record(r.text)
		failed = write(nil)
		r.written = failed == nil
	}
	if failed != nil {
		return failed
	}
	if r.armed = unarmed == nil; !r.armed {
		r.fail(errNotArmed, unarmed)
	}
	if unrecorded != nil {
		r.fail(errNotRecorded, unrecorded)
	}
	return nil
}

// arm lets the next session know that something waits for it.
func (r *run) arm(tx *state.Tx) error {
	arm := handover.Arm{Owner: r.Session, Client: handover.Here(r.Host), Item: r.path}
	// The version of the host decides who shows the banner after /clear; one that
	// cannot be found out shows it now and at the first prompt.
	tail, _ := transcript.ReadTail(r.Transcript)
	if err := arm.Put(tx); err != nil || tail.Version == "" {
		return err
	}
	return handover.NoteClient(tx, arm.Client, tail.Version)
}

// record has the ledger know the document with this content.
func (r *run) record(text string) error {
	return recordAll(r.Data, entry{
		Path: r.path, Content: text, ID: r.id,
		Project: r.Project, Session: r.Session, Time: r.now,
	})
}

// complete records what a commit hook has made of the document. One that is
// gone has been handed over in the meantime.
func (r *run) complete() {
	if r.DryRun {
		return
	}
	content, err := readArtifact(r.path)
	if err == nil && string(content) != r.text {
		err = r.record(string(content))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.fail(errNotRecorded, err)
	}
}

// blockedBy returns what keeps a commit from being made at all; "" when one
// may be.
func (r *run) blockedBy(ctx context.Context) reason {
	repo, s := r.git.Repo, r.git.Status
	switch {
	case r.git.absent():
		return noRepository
	case errors.Is(r.git.Err, git.ErrNoGit):
		return noGit
	case r.git.Err != nil:
		return gitRefuses
	}
	rel, err := repo.Rel(r.path)
	r.paths = []string{rel}
	switch op := repo.Operation(); {
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
		r.paths = nil
		r.fail("%s", blocked)
		return
	}
	r.paths = append(r.paths, r.companions()...)
	r.result.CommitMessage = textSubject(r.at.Kind, r.Slug)
	if r.DryRun {
		return
	}
	unattended := r.NonInteractive || r.Auto
	if !unattended {
		if r.uncommitted = r.ask(questionCommit, declined, nobodyThere, nameList(r.paths), r.branch); r.uncommitted != "" {
			r.mayCommit = true
			return
		}
		r.consent = true
	}
	repo := *r.git.Repo
	repo.Unattended, repo.CommitTime = unattended, r.CommitTime
	pending := pendingIndex{Top: repo.Top, Before: r.git.Status.Commit, Paths: r.paths, Time: r.now}
	noted := r.note(pending)
	made, err := repo.CommitOnly(ctx, pending.Before, r.result.CommitMessage+"\n\n"+textBody(r.Session)+"\n", r.paths...)
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
		// At once where a session or a person asked for the commit, for a person who
		// commits in a terminal next would undo it otherwise. A script's run leaves
		// the index byte for byte as it is, and says what is to be done; an event of
		// a session after it does that, too.
		r.indexKnows = (r.Auto || r.consent) && repo.RefreshIndex(ctx, made) == nil
		r.indexNoted = noted
	}
	if noted && (r.committed.ID == "" || r.indexKnows) {
		r.indexNoted = false
		if err := pending.drop(r.Data[0]); err != nil {
			r.Env.Log("a pending index update is still noted", "error", err.Error())
		}
	}
}

// note notes, before there is a commit, that the index will have to be told of
// it: a run that is killed cannot.
func (r *run) note(pending pendingIndex) bool {
	return len(r.Data) > 0 && pending.note(r.Data[0]) == nil
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

// clean is an error without the secrets a hook may have printed.
func (r *run) clean(err error) string {
	d := document{Home: r.Home}
	return d.clean(err.Error())
}

// companions returns the paths, as git names them, of the companions that go into the commit:
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
			out = append(out, rel)
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
	case r.committed.ID == "" && r.result.Git.Ahead == 0:
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

// isArmed reports whether the document at path waits for the next session.
func isArmed(project, path string) bool {
	arm, ok := handover.FindArm(dirOf(project))
	return ok && arm.Item == path
}

// tidy takes secrets out of what was written into the document by hand, and has
// the ledger know it as it is by now.
func (r *run) tidy() error {
	content, err := readArtifact(r.path)
	if err != nil {
		return err
	}
	d := document{Home: r.Home}
	r.text = d.clean(string(content))
	r.redacted = redact.Count(r.text) - redact.Count(string(content))
	if err := r.record(r.text); err != nil {
		r.fail(errNotRecorded, err)
	}
	if r.text == string(content) {
		return nil
	}
	return writeArtifact(r.path, []byte(r.text))
}

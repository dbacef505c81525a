package handoff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	r := &run{Options: o, result: Result{NextSteps: []string{}, Actions: []string{}, Errors: []string{}}}
	slug, ok := Slug(o.Slug)
	if !ok {
		return r.result, problem.Input("name the topic with letters or digits", "slug %q has nothing that can stand in a file name", o.Slug)
	}
	r.Slug = slug
	if o.Kind != "" {
		if r.kind, ok = ParseKind(o.Kind); !ok {
			return r.result, problem.Input(fmt.Sprintf("use %s, %s or %s", PluginWork, MultiSession, SingleTask), "type %q is not known", o.Kind)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	if o.Auto && !o.DryRun {
		lock, err := o.lock()
		if err != nil {
			// Without a lock this would happen again at every turn.
			r.failed(textNoLock(err))
			return r.result, nil
		}
		if lock == nil {
			return r.skip(textAlready), nil
		}
		defer lock.done(o.Env.Now())
	}
	r.pipeline(ctx)
	return r.result, nil
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
	kind Kind // asked for, "" for none
	now  time.Time
	git  gitFacts
	at   place
	path string // of the artifact
	id   string
	// consent: a person has said yes to the commit.
	consent bool
	barred  string // why no commit may be made, "" when one may
	result  Result
}

func (r *run) did(what string) {
	if r.DryRun {
		what = textWould(what)
	}
	r.result.Actions = append(r.result.Actions, what)
}

func (r *run) failed(what string) { r.result.Errors = append(r.result.Errors, what) }

func (r *run) skip(why string) Result {
	r.result.Skipped = true
	r.result.Actions = append(r.result.Actions, why)
	r.result.Prompt = textPrompt(r.result.ArtifactPath)
	return r.result
}

func (r *run) pipeline(ctx context.Context) {
	r.now = r.Env.Now()
	r.survey(ctx)
	if r.recent() {
		r.skip(textRecent)
		return
	}
	if r.write() {
		r.commit(ctx)
		r.push(ctx)
		r.record()
		r.arm()
	}
	r.next()
}

// survey finds out where the work is and what git says of it.
func (r *run) survey(ctx context.Context) {
	var errs []error
	r.git, errs = gatherGit(ctx, r.Dir)
	for _, err := range errs {
		if !errors.Is(err, git.ErrNoRepo) {
			r.failed(textNoGitFacts(err))
		}
	}
	top, dir := r.Project, r.Dir
	if r.git.Repo != nil {
		top = r.git.Repo.Top
	}
	if top == "" {
		top = dir
	}
	top, dir = realPath(top), realPath(dir)
	if !inside(top, dir) {
		top = dir
	}
	if r.Project == "" {
		r.Project = top
	}
	r.at = survey(top, dir, r.Settings)
	if r.kind != "" {
		r.at.Kind = r.kind
	}
	if want := r.Settings.ArtifactDir; want != "" && !r.DryRun {
		if d, err := named(top, want); err == nil {
			r.at.Dir = d
		} else {
			r.failed(err.Error())
		}
	}
	r.path = filepath.Join(r.at.Dir, artifactName(r.Slug))
	r.result.Kind, r.result.WriteDir = r.at.Kind, r.at.Dir
	r.result.Git = GitStatus{Branch: r.git.Status.Branch, Dirty: len(r.git.dirty()) > 0, Ahead: r.git.Status.Ahead}
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// recent reports whether a run has only just done all there is to do.
func (r *run) recent() bool {
	fi, err := os.Lstat(r.path)
	if err != nil || !fi.Mode().IsRegular() || r.result.Git.Dirty {
		return false
	}
	r.result.ArtifactPath = r.path
	if r.now.Sub(fi.ModTime()).Abs() >= fresh {
		return false
	}
	content, err := readArtifact(r.path)
	return err == nil && r.ledger().judge(r.path, content) != foreign
}

func (r *run) ledger() ledger {
	var all ledger
	for _, dir := range r.Data {
		all = append(all, readLedgerAt(dir)...)
	}
	return all
}

// write makes the artifact, and reports whether there is one.
func (r *run) write() bool {
	facts, err := gatherSession(r.Transcript, r.ledger().since(r.Session))
	if err != nil {
		r.failed(textNoSession(err))
	}
	r.id = newID()
	doc := document{
		ID: r.id, Session: r.Session, At: r.at, Time: r.now,
		Git: r.git, Facts: facts, Home: r.Home, Words: english,
	}
	if r.Settings.Norwegian {
		doc.Words = norwegian
	}
	text, redacted := doc.render()
	r.result.Redacted = redacted
	if r.DryRun {
		r.result.ArtifactPath = r.path
		if isFile(r.path) {
			r.did("archived the earlier " + filepath.Base(r.path))
		}
		r.did("written " + r.path)
		return true
	}
	if err := r.put(r.path, []byte(text)); err != nil {
		r.failed(textElsewhere(r.at.Dir, err))
		if r.path, err = r.putElsewhere([]byte(text)); err != nil {
			r.failed(err.Error())
			r.result.ArtifactPath = ""
			return false
		}
	}
	r.result.ArtifactPath = r.path
	r.did(textWrote(r.path, redacted))
	return true
}

// put writes the artifact after archiving one that is in its place.
func (r *run) put(path string, text []byte) error {
	old, err := readArtifact(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf(textArtifactOdd, path)
	default:
		name, err := keepCopy(r.Project, filepath.Base(path), old, r.now)
		if err != nil {
			return errors.New(textNotArchived(filepath.Base(path), err))
		}
		r.did(textArchived(filepath.Base(path), archiveOf(r.Project).Path(name)))
	}
	return writeArtifact(path, text)
}

// putElsewhere writes the artifact where the user can still find it: in the
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

// commitFacts is all that decides whether a commit may be made at all.
type commitFacts struct {
	Repo      bool // there is one, and its state is known
	Known     bool
	Worktree  bool // the artifact is in it
	Off       bool
	Branch    string
	Unborn    bool
	Operation string
	Locked    bool
	Ignored   bool
}

// blocker says why no commit may be made; "" when one may.
func blocker(f commitFacts) string {
	switch {
	case !f.Repo:
		return textNotHere
	case !f.Known:
		return textNoStatus
	case !f.Worktree:
		return textNoWorktree
	case f.Ignored:
		return textIgnored
	case f.Operation != "":
		return textBusy(f.Operation)
	case f.Unborn:
		return textUnborn
	case f.Branch == "":
		return textDetached
	case f.Locked:
		return textLocked
	}
	return ""
}

// commit commits the artifact and its companions, if everything allows it.
func (r *run) commit(ctx context.Context) {
	if !r.Settings.Commit {
		r.barred = textCommitOff
		r.result.Actions = append(r.result.Actions, textCommitOff)
		return
	}
	r.barred = blocker(r.commitFacts(ctx))
	switch {
	case r.NoCommit:
		r.result.Actions = append(r.result.Actions, textAsked)
		return
	case r.barred != "":
		r.failed(r.barred)
		return
	}
	paths := append([]string{r.path}, r.companions(ctx)...)
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = base(p)
	}
	r.result.CommitMessage = textSubject(r.at.Kind, r.Slug)
	if r.DryRun {
		r.did("committed " + strings.Join(names, ", "))
		return
	}
	if !r.NonInteractive && !r.Auto {
		yes, answered := false, false
		if r.Ask != nil {
			yes, answered = r.Ask(questionCommit(names, r.git.Status.Branch))
		}
		r.consent = yes
		if !yes {
			why := textDeclined
			if !answered {
				why = textNobody
			}
			r.result.Actions = append(r.result.Actions, why)
			return
		}
	}
	repo := *r.git.Repo
	repo.Unattended = r.NonInteractive || r.Auto
	repo.CommitTime = r.CommitTime
	id, err := repo.CommitOnly(ctx, r.result.CommitMessage+"\n\n"+textBody(r.Session)+"\n", paths...)
	switch {
	case errors.Is(err, git.ErrNothing):
		r.result.Actions = append(r.result.Actions, textSame)
	case errors.Is(err, git.ErrIndexLocked):
		r.failed(textLocked)
	case err != nil:
		r.failed(textCommitFailed(r.cleaned(err)))
	default:
		r.result.CommitID = id
		r.did(textCommitted(names, id[:min(12, len(id))]))
		r.settle(ctx, id, paths)
	}
}

// settle has the index told of the commit: at once where a session or a person
// asked for it, for a person who commits in a terminal next would undo it
// otherwise. A script's run leaves the index byte for byte as it is, and says
// what is to be done; an event of a session after it does that, too.
func (r *run) settle(ctx context.Context, id string, paths []string) {
	u := unsettled{Top: r.git.Repo.Top, Commit: id}
	for _, p := range paths {
		if rel, err := r.git.Repo.Rel(p); err == nil {
			u.Paths = append(u.Paths, rel)
		}
	}
	if (r.Auto || r.consent) && r.git.Repo.Adopt(ctx, id, u.Paths...) == nil {
		return
	}
	later := len(r.Data) > 0 && u.note(r.Data[0]) == nil
	r.result.NextSteps = append(r.result.NextSteps, stepIndex(u.Paths, later))
}

// cleaned is an error without the secrets a hook may have printed.
func (r *run) cleaned(err error) error {
	d := document{Home: r.Home}
	return errors.New(d.clean(err.Error()))
}

func (r *run) commitFacts(ctx context.Context) commitFacts {
	repo := r.git.Repo
	if repo == nil {
		return commitFacts{}
	}
	f := commitFacts{
		Repo:      true,
		Known:     r.git.Status.Branch != "" || r.git.Status.Commit != "",
		Branch:    r.git.Status.Branch,
		Unborn:    r.git.Status.Unborn(),
		Operation: repo.Operation(),
	}
	_, err := repo.Rel(r.path)
	f.Worktree = err == nil
	if ignored, err := repo.Ignored(ctx, r.path); f.Worktree && (ignored || err != nil) {
		f.Ignored = true
	}
	for waited := time.Duration(0); repo.IndexLocked(); waited += lockPoll {
		if waited >= indexLockTimeout || ctx.Err() != nil {
			f.Locked = true
			break
		}
		time.Sleep(lockPoll)
	}
	return f
}

// companions returns the paths of the companions that go into the commit:
// those that are there, differ, are not ignored, and of which the user has
// staged nothing.
func (r *run) companions(ctx context.Context) []string {
	var out []string
	for _, name := range companions {
		path := filepath.Join(r.at.Dir, name)
		if !isFile(path) {
			continue
		}
		rel, err := r.git.Repo.Rel(path)
		if err != nil {
			continue
		}
		f, differs := r.git.file(rel)
		if ignored, err := r.git.Repo.Ignored(ctx, path); !differs || ignored || err != nil {
			continue
		}
		if !f.Untracked() && f.Staged != '.' {
			r.failed(textStaged(name))
			continue
		}
		out = append(out, path)
	}
	return out
}

// push pushes the branch, if the person says yes to it.
func (r *run) push(ctx context.Context) {
	s := r.git.Status
	switch {
	case !r.Push:
		return
	case r.NonInteractive || r.Auto:
		r.failed(textPushAlone)
		return
	case r.result.CommitID == "" && s.Ahead == 0:
		r.result.Actions = append(r.result.Actions, textPushNothing)
		return
	case r.DryRun:
		r.did("asked whether to push " + s.Branch)
		return
	}
	yes := false
	if r.Ask != nil {
		yes, _ = r.Ask(questionPush(s.Branch, s.Upstream))
	}
	if !yes {
		r.result.Actions = append(r.result.Actions, textPushDeclined)
		return
	}
	if err := r.git.Repo.Push(ctx, s.Branch); err != nil {
		r.failed(textPushFailed(r.cleaned(err)))
		return
	}
	r.did(textPushed(s.Branch, s.Upstream))
}

// record notes what the artifact looks like now: a commit hook may have
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
		r.failed(textNotRecorded(err))
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
	if err != nil {
		r.failed(textNotArmed(err))
		return
	}
	r.did(textArmed())
}

// next says what is left for the person to do.
func (r *run) next() {
	name := base(r.path)
	armed := slices.Contains(r.result.Actions, textArmed())
	step := func(s string) { r.result.NextSteps = append(r.result.NextSteps, s) }
	if r.result.CommitID != "" {
		if !slices.ContainsFunc(r.result.Actions, func(a string) bool { return strings.HasPrefix(a, "pushed ") }) {
			step(stepPush)
		}
	} else if r.barred == "" && r.result.ArtifactPath != "" {
		step(stepCommit(name))
	}
	if armed {
		step(stepContinue)
	} else {
		step(stepPaste)
	}
	r.result.Prompt = textPrompt(r.result.ArtifactPath)
}

// base is the last element of a path with slashes or separators.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// Commit commits the newest handoff of a project after somebody has worked on
// it. It asks nothing: who calls it has decided. An error is
// about the input.
func Commit(ctx context.Context, o Options) (Result, error) {
	r := &run{Options: o, result: Result{NextSteps: []string{}, Actions: []string{}, Errors: []string{}}}
	r.now = o.Env.Now()
	r.NonInteractive, r.Settings.Commit, r.consent = true, true, true
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	r.survey(ctx)
	last, ok := r.ledger().newest(r.Project)
	if !ok {
		return r.result, problem.Input("write one with `ccreload handoff run`", textNoArtifact)
	}
	r.path, r.id, r.Session = last.Path, last.ID, last.Session
	r.Slug = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(base(r.path), artifactStem), artifactEnd), "-")
	r.at.Dir = filepath.Dir(r.path)
	r.result.WriteDir, r.result.ArtifactPath = r.at.Dir, r.path
	if err := r.tidy(); err != nil {
		r.failed(textCommitFailed(err))
		return r.result, nil
	}
	r.commit(ctx)
	r.record()
	r.next()
	return r.result, nil
}

// tidy takes secrets out of what was written into the artifact by hand.
func (r *run) tidy() error {
	content, err := readArtifact(r.path)
	if err != nil {
		return err
	}
	d := document{Home: r.Home}
	text := d.clean(string(content))
	if r.result.Redacted = redact.Count(text) - redact.Count(string(content)); text == string(content) {
		return nil
	}
	return writeArtifact(r.path, []byte(text))
}

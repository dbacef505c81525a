package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/page"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/registry"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// watchEvery is how often agents at work are looked after.
const watchEvery = 10 * time.Second

// watchTry is how long a watcher tries to be the only one.
const watchTry = 200 * time.Millisecond

// tickWait is how long a person waits for a tick that is at work.
const tickWait = 30 * time.Second

// laterWorld is what ticks and people's commands work with.
func (a *app) laterWorld() (*dispatch.World, error) {
	w, err := a.laterReader()
	if err != nil {
		return nil, err
	}
	return w, w.Prepare()
}

// laterAgain is laterWorld for what goes on by itself. It has nothing to do where
// nothing of the plugin is kept (any more), returns nil, and makes nothing anew.
func (a *app) laterAgain() (*dispatch.World, error) {
	w, err := a.laterReader()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(w.App); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return w, w.Prepare()
}

// laterReader is laterWorld for what only shows something, and creates nothing.
func (a *app) laterReader() (*dispatch.World, error) {
	profile, err := a.profile(later.Name)
	if err != nil {
		return nil, err
	}
	w := &dispatch.World{
		App: later.AppDir(a.host, a.env.Getenv), Profile: profile, Host: a.host, Env: a.env, Environ: os.Environ(),
		Prices: models.Prices(profile.PriceTable()), LookPath: exec.LookPath,
	}
	for _, p := range registry.Plugins() {
		w.StateDirs = append(w.StateDirs, p.StateDir)
	}
	return w, w.Open()
}

// laterRoot returns the repository that a command is about.
func (a *app) laterRoot(given string) (string, error) {
	if given != "" {
		path, err := filepath.Abs(given)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() || path == filepath.Dir(path) {
			return "", problem.Input("", "%q is no directory of a project", given)
		}
		return later.Root(path), nil
	}
	project, err := a.project()
	return later.Root(project), err
}

func (a *app) laterTick() *cobra.Command {
	var o dispatch.Options
	var background, watch bool
	var idleSince string
	cmd := &cobra.Command{
		Use:   "tick",
		Short: "Look after the agents, and start those whose time has come",
		Long: `Look after the agents, and start those whose time has come. The end of each turn
and the timer do the same; it says why nothing starts. With --now it starts only
what is queued in this repository, and the window and whether you are at work do not
matter; limits, the budget and trust do.`,
		Example: `  ccreload later tick          what the timer does
  ccreload later tick --now    start what is queued in this repository`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t, err := time.Parse(time.RFC3339, idleSince); err == nil {
				o.IdleSince = t
			}
			if watch {
				return a.watchAgents(cmd.Context())
			}
			if !background {
				o.Wait = tickWait
			}
			return a.tick(cmd.Context(), o, background)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Manual, "now", false, "what is queued in this repository, whatever the window")
	flags.StringVar(&o.Repo, "repo", "", "a repository (default: that of this directory)")
	flags.BoolVar(&background, "background", false, "")
	flags.BoolVar(&watch, "watch", false, "")
	flags.StringVar(&idleSince, "idle-since", "", "")
	for _, name := range []string{"background", "watch", "idle-since"} {
		flags.MarkHidden(name) // fails only for an unknown flag
	}
	return cmd
}

func (a *app) tick(ctx context.Context, o dispatch.Options, background bool) error {
	world := a.laterWorld
	if background {
		world = a.laterAgain
	}
	w, err := world()
	if err != nil || w == nil {
		return err
	}
	if o.Repo, err = a.laterRoot(o.Repo); err != nil {
		return err
	}
	w.Watch = a.startWatch
	r, err := w.Tick(ctx, o)
	if err != nil {
		return err
	}
	if background {
		a.tellTick(ctx, w)
		return nil
	}
	a.lookForDashboard(ctx, w)
	return a.tickResult(r)
}

func (a *app) tickResult(r dispatch.Result) error {
	if r.Busy {
		fmt.Fprintln(a.stdout, "Another tick is at work; try again in a moment.")
		return nil
	}
	for _, s := range r.Ended {
		fmt.Fprintln(a.stdout, term.Visible("Ended    "+s))
	}
	for _, s := range r.Started {
		fmt.Fprintln(a.stdout, term.Visible("Started  "+s))
	}
	for _, p := range r.Problems {
		fmt.Fprintln(a.stdout, term.Visible("Problem  "+p))
	}
	if len(r.Started) == 0 && r.Decision.Reason != "" {
		fmt.Fprintf(a.stdout, "Nothing started: %s.\n", term.Visible(page.Why(r.Decision.Reason, r.Decision.Until, r.Because, a.env.Now())))
	}
	if r.Running > 0 {
		fmt.Fprintf(a.stdout, "%s at work; `ccreload later status` says how far.\n", term.Count(r.Running, "agent"))
	}
	if r.Waiting > 0 {
		fmt.Fprintf(a.stdout, "The work of %s waits; `ccreload later status` says why.\n", term.Count(r.Waiting, "agent"))
	}
	return nil
}

// startWatch starts the process that looks after the agents; one is enough, so it
// ends at once where there is one.
func (a *app) startWatch() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, "later", "tick", "--watch")
	cmd.Env = host.Outside(os.Environ())
	cmd.Dir = a.host.Home
	_, err = proc.Start(cmd)
	return err
}

// watchAgents ticks until no agent is at work, or nothing of the plugin is left.
func (a *app) watchAgents(ctx context.Context) error {
	w, err := a.laterAgain()
	if err != nil || w == nil {
		return err
	}
	err = state.NewDir(filepath.Join(w.App, "locks")).Sub("watch").WithLock(watchTry, func(*state.Tx) error {
		a.tellTick(ctx, w) // what is so already is no news later
		for {
			a.env.Sleep(watchEvery)
			w, err := a.laterAgain()
			if err != nil || w == nil {
				return err
			}
			r, err := w.Tick(ctx, dispatch.Options{})
			if err != nil {
				return err
			}
			a.tellTick(ctx, w)
			if r.Running == 0 && !r.Busy {
				return nil
			}
		}
	})
	if errors.Is(err, state.ErrBusy) {
		return nil
	}
	return err
}

func (a *app) laterStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the window, the queue, the agents, and what waits for you",
		Example: "  ccreload later status",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			look, err := a.laterLook()
			if err != nil {
				return err
			}
			v, err := look(cmd.Context())
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, page.Status(v))
			return err
		},
	}
	return cmd
}

// laterLook returns what shows all there is, with whether agents can be run.
func (a *app) laterLook() (func(context.Context) (dispatch.View, error), error) {
	w, err := a.laterReader()
	if err != nil {
		return nil, err
	}
	root, err := a.laterRoot("")
	w.Asks = true
	return func(ctx context.Context) (dispatch.View, error) { return w.View(ctx, root) }, err
}

// laterView is what there is of the tasks, without asking the client.
func (a *app) laterView(ctx context.Context) (dispatch.View, error) {
	w, err := a.laterReader()
	if err != nil {
		return dispatch.View{}, err
	}
	root, err := a.laterRoot("")
	if err != nil {
		return dispatch.View{}, err
	}
	return w.View(ctx, root)
}

// inherited is where a command learns what the processes above it were told: one
// that a session has started may have cleared its own environment (env -i). Tests
// may be run in a session and have another.
var inherited = proc.Inherited

// noter returns what notes for the ledger that text may run: note, but in a session
// that has to wait until it is known that the person was asked; an agent may not at
// all.
func (a *app) noter(w *dispatch.World, note func(...later.Entry) error) (_ func(...later.Entry) error, waits bool, err error) {
	if hook.On(a.env.Getenv(host.ChildVar)) || hook.On(inherited(host.ChildVar)) {
		return nil, false, problem.Input("", "an agent may not queue or trust anything")
	}
	session := cmp.Or(a.host.Session, inherited(host.SessionVar))
	if session == "" {
		return note, false, nil
	}
	return func(entries ...later.Entry) error {
		return later.Propose(w.App, session, a.args, a.env.Now(), entries...)
	}, true, nil
}

func (a *app) laterAdd() *cobra.Command {
	var section, repo string
	var urgent, minor bool
	cmd := &cobra.Command{
		Use:   "add [flags] TASK",
		Short: "Queue a task",
		Example: `  ccreload later add "add a test for the retry path"
  ccreload later add --section Auth --urgent "close the debug port"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			said := queue.Unsaid
			switch {
			case urgent && minor:
				return problem.Input("", "a task is either urgent or minor")
			case urgent:
				said = queue.P0
			case minor:
				said = queue.P2
			}
			e := queue.EntryOf(strings.Join(args, " "), said)
			switch n := e.Length(); {
			case n == 0:
				return problem.Input("", "the task is empty")
			case n < queue.MinText:
				return problem.Input("say what is to be done", "the task %q has %s, and at least %d are needed", e.Text, term.Count(n, "character"), queue.MinText)
			case n > queue.MaxText:
				return problem.Input("put the details into a file and name it", "the task has %d characters, and at most %d fit", n, queue.MaxText)
			}
			w, err := a.laterWorld()
			if err != nil {
				return err
			}
			note, waits, err := a.noter(w, func(e ...later.Entry) error { return later.Append(w.App, e...) })
			if err != nil {
				return err
			}
			root, err := a.laterRoot(repo)
			if err != nil {
				return err
			}
			q := later.QueueOf(root, later.ReadConfig(w.App, w.Profile))
			call := &host.Call{Profile: w.Profile, Env: a.env}
			added, err := later.Add(w.App, q, queue.Clean(section), later.Added, call, note, []queue.Entry{e})
			switch {
			case err != nil:
				return fmt.Errorf("the task was not queued in %q: %w", q.Path, err)
			case len(added) == 0:
				fmt.Fprintf(a.stdout, "That is in %s already.\n", q.Path)
			default:
				fmt.Fprintln(a.stdout, term.Visible(fmt.Sprintf("Queued in %s: %s (%s)", q.Path, e.Text, e.Priority)))
				if waits {
					fmt.Fprintln(a.stdout, "It may run if you were asked about this very command and said yes; otherwise it waits for your trust.")
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&section, "section", "", "the heading to put it below (default: the end of the file)")
	flags.StringVar(&repo, "repo", "", "a repository (default: that of this directory)")
	flags.BoolVar(&urgent, "urgent", false, "before everything else (P0)")
	flags.BoolVar(&minor, "minor", false, "after everything else (P2)")
	return cmd
}

// listed is a task as `list` prints it.
type listed struct {
	ID       string `json:"id"`
	Repo     string `json:"repo"`
	Section  string `json:"section"`
	Priority string `json:"priority"`
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	Text     string `json:"text"`
	Note     string `json:"note,omitempty"`
	// Until is when a task is due that only waits for its time.
	Until *time.Time `json:"until,omitempty"`

	known dispatch.Known
	waits string // until when, and why
	width int    // of the names of the repositories
}

func (l listed) String() string {
	text := l.Text
	if l.waits != "" {
		text += " (" + l.waits + ")"
	}
	return fmt.Sprintf("%s  %s  %-6s  %-*s  %s\n", l.ID, l.Priority, l.State, l.width, filepath.Base(l.Repo), text)
}

// tasks returns the open tasks of a view.
func tasks(v dispatch.View) []listed {
	list, width := []listed{}, 0
	for _, q := range v.Queues {
		for _, s := range q.Sections {
			for _, t := range s.Tasks {
				l := listed{ID: t.ID, Repo: q.Root, Section: s.Name, Priority: t.Priority.String(), State: page.State(t), Attempts: t.Attempts, Text: t.Text, Note: t.Note, known: t, waits: page.Waits(t, v.Now)}
				if !t.Until.IsZero() {
					l.Until = &t.Until
				}
				list = append(list, l)
				width = max(width, utf8.RuneCountInString(filepath.Base(q.Root)))
			}
		}
	}
	for i := range list {
		list[i].width = width
	}
	return list
}

func (a *app) laterList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the open tasks",
		Long: `List the open tasks of all repositories: the id, the priority, where each stands,
and the repository. "trust?" waits until you trust the repository, "you" needs you, "limit" goes
on after the reset.`,
		Example: "  ccreload later list\n  ccreload later list --json | jq -r '.[].text'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := a.laterView(cmd.Context())
			if err != nil {
				return err
			}
			broken, list := unusable(v), tasks(v)
			if len(list) > 0 || broken == nil || asJSON {
				return errors.Join(printList(a, list, asJSON, "No task is queued."), broken)
			}
			return broken
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

// findTask returns the open task with an id; one of this repository comes first.
func (a *app) findTask(ctx context.Context, id string) (listed, error) {
	v, err := a.laterView(ctx)
	if err != nil {
		return listed{}, err
	}
	return pickTask(v, tasks(v), id)
}

// unusable is why queues of a view cannot be used, nil if all can.
func unusable(v dispatch.View) error {
	var errs []error
	for _, q := range v.Queues {
		errs = append(errs, q.Err)
	}
	return errors.Join(errs...)
}

// pickTask returns the task with an id of those in a view.
func pickTask(v dispatch.View, all []listed, id string) (listed, error) {
	i := slices.IndexFunc(all, func(l listed) bool { return l.ID == id })
	if err := unusable(v); i < 0 && err != nil {
		return listed{}, err // it may be in there
	}
	if i < 0 {
		return listed{}, problem.Input("`ccreload later list` has the ids; one changes when its line is moved or edited", "there is no task %q", id)
	}
	return all[i], nil
}

func (a *app) laterShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show what is known of a task",
		Example: "  ccreload later show t_0123456789",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := a.laterView(cmd.Context())
			if err != nil {
				return err
			}
			all := tasks(v)
			for _, q := range v.Queues {
				for _, t := range q.Done {
					all = append(all, listed{ID: t.ID, Repo: q.Root, Priority: t.Priority.String(), State: "done", Text: t.Text, known: t})
				}
			}
			t, err := pickTask(v, all, args[0])
			if err != nil {
				return err
			}
			k := t.known
			origin := map[later.Event]string{
				later.Captured: "you typed it in a prompt", later.Added: "you added it", later.Vouched: "it stood in a repository that you trust",
				later.Strayed: "it appeared while an agent was at work",
			}[k.Source]
			fmt.Fprintln(a.stdout, term.Visible(t.Text))
			rows := [][2]string{
				{"Repository", t.Repo},
				{"Section", t.Section},
				{"Priority", t.Priority},
				{"State", t.State},
				{"Origin", cmp.Or(origin, "not known, so it waits for trust")},
				{"Runs", runs(k.Known, v.Now)},
				{"Failed", failed(k.Known, v.Config.MaxAttempts)},
				{"Last result", strings.TrimSpace(string(k.Verdict) + " " + k.Note)},
				{"Report", dispatch.ReportOf(v.App, k.Agent)},
				{"Kept in", k.Kept},
				{"Needs you", k.Held},
				{"Waits", t.waits},
			}
			for _, r := range rows {
				if r[1] != "" {
					fmt.Fprintln(a.stdout, term.Visible(fmt.Sprintf("  %-12s %s", r[0], r[1])))
				}
			}
			return nil
		},
	}
}

// runs says how often an agent has had a task.
func runs(k later.Known, now time.Time) string {
	if k.Runs == 0 {
		return "none so far"
	}
	return fmt.Sprintf("%d, the last one began at %s", k.Runs, page.Clock(k.Started, now))
}

// failed says how many of the runs count against a task.
func failed(k later.Known, most int) string {
	if k.Attempts == 0 {
		return ""
	}
	return fmt.Sprintf("%d of the %d times after which it waits for you", k.Attempts, most)
}

func (a *app) laterRetry() *cobra.Command {
	return &cobra.Command{
		Use:     "retry ID",
		Short:   "Have a task tried again",
		Example: "  ccreload later retry t_0123456789",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.findTask(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			switch {
			case t.State == "trust?":
				return problem.Input("`ccreload later trust`", "it waits for trust, and not for another try: %q", t.Text)
			case t.State == "runs":
				return problem.Input("`ccreload later stop` ends it", "an agent is at work on it: %q", t.Text)
			case t.State == "waits" && t.Attempts == 0 && t.waits == "":
				which := "first"
				if t.known.Runs > 0 {
					which = "next"
				}
				fmt.Fprintln(a.stdout, term.Visible("It waits for its "+which+" try: "+t.Text))
				return nil
			}
			w, err := a.laterWorld()
			if err != nil {
				return err
			}
			if err := w.Note(later.Entry{Event: later.Retried, Repo: t.Repo, Text: t.Text}); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, term.Visible("To be tried again: "+t.Text))
			return nil
		},
	}
}

func (a *app) laterTrust() *cobra.Command {
	var repo string
	var yes, revoke, list bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Let run what the queue of a repository holds",
		Long: `Let run what the queue of a repository holds, whoever wrote it: what stands there
now, and what is added while no agent is at work. What you queue yourself needs no
trust.`,
		Example: `  ccreload later trust
  ccreload later trust --list
  ccreload later trust --revoke`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return a.trusted()
			}
			w, err := a.laterWorld()
			if err != nil {
				return err
			}
			root, err := a.laterRoot(repo)
			if err != nil {
				return err
			}
			if revoke {
				l, err := later.ReadLedger(w.App, schedule.Settings{})
				if err != nil {
					return err
				}
				if !l.Vouches(root) {
					fmt.Fprintf(a.stdout, "The queue of %s was not trusted.\n", root)
					return nil
				}
				if err := w.Note(later.Entry{Event: later.Untrusted, Repo: root}); err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "The queue of %s is not trusted any more.\n", root)
				return nil
			}
			return a.trust(cmd.Context(), w, root, yes)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&repo, "repo", "", "a repository (default: that of this directory)")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	flags.BoolVar(&revoke, "revoke", false, "take it back")
	flags.BoolVar(&list, "list", false, "list the repositories that are trusted")
	return cmd
}

func (a *app) trusted() error {
	w, err := a.laterReader()
	if err != nil {
		return err
	}
	l, err := later.ReadLedger(w.App, later.ReadConfig(w.App, w.Profile).Settings)
	if err != nil {
		return err
	}
	none := true
	for _, root := range l.Repos() {
		if l.Trusts(root) {
			fmt.Fprintln(a.stdout, term.Visible(root))
			none = false
		}
	}
	if none {
		fmt.Fprintln(a.stdout, "No repository is trusted; what you queue yourself runs all the same.")
	}
	return nil
}

func (a *app) trust(ctx context.Context, w *dispatch.World, root string, yes bool) error {
	note, waits, err := a.noter(w, w.Note)
	if err != nil {
		return err
	}
	v, err := w.View(ctx, root)
	if err != nil {
		return err
	}
	for _, q := range v.Queues {
		if q.Root == root && q.Err != nil {
			return q.Err
		}
	}
	var entries []later.Entry
	for _, t := range tasks(v) {
		if t.Repo != root || t.known.May() {
			continue
		}
		fmt.Fprintln(a.stdout, term.Visible("  "+t.Text))
		entries = append(entries, later.Entry{Event: later.Vouched, Repo: root, Text: t.Text})
	}
	l, err := later.ReadLedger(w.App, schedule.Settings{})
	if err != nil {
		return err
	}
	if len(entries) == 0 && l.Trusts(root) {
		fmt.Fprintf(a.stdout, "The queue of %s is trusted already.\n", root)
		return nil
	}
	if !yes && !waits {
		what := "These and what"
		if len(entries) == 0 {
			what = "No task waits for trust. What"
		}
		fmt.Fprintf(a.stderr, "%s is added to the queue of %s will run unattended. Trust it? [y/N] ", what, root)
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
			return problem.Input("`--yes` for scripts", "nothing was changed")
		}
	}
	mark, err := later.MarkTrusted(root)
	if err != nil {
		return fmt.Errorf("%q cannot be marked as trusted: %w", root, err)
	}
	entries = append(entries, later.Entry{Event: later.Trusted, Repo: root, Note: mark})
	if err := note(entries...); err != nil {
		return err
	}
	if waits {
		fmt.Fprintf(a.stdout, "The queue of %s is trusted if you were asked about this very command and said yes; `ccreload later trust --list` tells.\n", root)
		return nil
	}
	fmt.Fprintf(a.stdout, "The queue of %s is trusted; `ccreload later trust --revoke` takes that back.\n", root)
	return nil
}

func (a *app) laterPause() *cobra.Command {
	return a.laterFlag("pause", "Start nothing until `resume`", "Nothing starts until `ccreload later resume`; agents at work go on (`ccreload later stop` ends them).", dispatch.Pause)
}

func (a *app) laterResume() *cobra.Command {
	return a.laterFlag("resume", "Take back `pause`, and what switched starting off", "Nothing is paused; agents start when it is time.", dispatch.Resume)
}

func (a *app) laterFlag(use, short, says string, do func(string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: "  ccreload later " + use, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w, err := a.laterWorld()
			if err != nil {
				return err
			}
			if err := do(w.App); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, says)
			return nil
		},
	}
}

func (a *app) laterStop() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Pause, and end the agents at work",
		Long: `Pause, and end the agents at work with everything they have started. What they
have changed in their worktrees is kept below refs/cc-later/salvage, and their tasks
stay in the queue.`,
		Example: "  ccreload later stop",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.laterWorld()
			if err != nil {
				return err
			}
			if err := dispatch.Pause(w.App); err != nil {
				return err
			}
			n, waiting, err := w.Stop(cmd.Context(), tickWait)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s ended. Nothing starts until `ccreload later resume`.\n", term.Count(n, "agent"))
			if waiting > 0 {
				fmt.Fprintf(a.stdout, "The work of %s that had ended before waits; `ccreload later status` says why.\n", term.Count(waiting, "agent"))
			}
			return nil
		},
	}
}

func (a *app) laterLogs() *cobra.Command {
	var n int
	cmd := &cobra.Command{
		Use:     "logs",
		Short:   "Show what happened, newest last",
		Example: "  ccreload later logs -n 50",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 {
				return problem.Input("", "-n takes a number from 1")
			}
			w, err := a.laterReader()
			if err != nil {
				return err
			}
			now := a.env.Now()
			events := dispatch.Log(w.App, n)
			for _, e := range slices.Backward(events) {
				fmt.Fprintln(a.stdout, term.Visible(page.Clock(e.Time, now)+"  "+e.Text))
			}
			if len(events) == 0 {
				fmt.Fprintln(a.stdout, "Nothing happened so far.")
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&n, "lines", "n", 20, "how many")
	return cmd
}

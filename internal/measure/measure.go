// Package measure counts how much of what a session did next the page says that
// would have been made of it at some moment (docs/continuity.md). It needs no
// model, reads transcripts and writes nothing.
package measure

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Page makes a page of the facts of a session.
type Page func(transcript.Facts) string

// Class is a kind of thing that a session needs again.
type Class int

// The classes, and what counts of each.
const (
	Files    Class = iota // touched by the next calls
	Commands              // run by the next calls, and before
	Todos                 // open, and done later
	Terms                 // names, paths and options in the next prompts
	Errors                // commands that failed and work later
	classes
)

// Names of the classes.
var Names = [classes]string{"files", "commands", "todos", "terms", "errors"}

// Where a session is cut, and how far is looked from there.
const (
	maxCompactions = 3  // cuts at compactions
	minPrompts     = 4  // for cuts at prompts; else they are at calls
	minBefore      = 10 // calls before a cut
	minAfter       = 3  // calls after it
	callsAhead     = 10
	farAhead       = 30
	promptsAhead   = 3
	maxTodo        = 80 // characters of an item that have to be in the page
)

// Tally is how many things of a class were needed, and which of them the page did
// not name.
type Tally struct {
	Needed int
	Missed []string
}

// Recall is the share of what was needed that the page named, from 0 to 1.
func (t Tally) Recall() float64 {
	return 1 - float64(len(t.Missed))/float64(t.Needed)
}

// Cut is one moment at which the session might have ended.
type Cut struct {
	Calls      int // of tools before it
	Compaction bool
	Tallies    [classes]Tally
	Characters int // of the page, as the host counts them
	Listed     int // files that the page lists
	SoonUsed   int // how many of them the next 10 calls touch
	LaterUsed  int // and the next 30
}

// Score is the mean recall of the classes of which something was needed.
func (c Cut) Score() float64 {
	var all []float64
	for _, t := range c.Tallies {
		if t.Needed > 0 {
			all = append(all, t.Recall())
		}
	}
	return mean(all)
}

func (c Cut) needed() bool {
	return slices.ContainsFunc(c.Tallies[:], func(t Tally) bool { return t.Needed > 0 })
}

// ErrShort is the error of a session that is too short to be cut anywhere.
var ErrShort = errors.New("too short: no moment with 10 tool calls before and 3 after it")

// ErrForeign is the error of a file that is no transcript.
var ErrForeign = errors.New("no transcript of Claude Code")

// Session measures a transcript: one cut before each of its first compactions, and
// one before the prompts in the middle and at three quarters.
func Session(data []byte, page Page) ([]Cut, error) {
	r, size := bytes.NewReader(data), int64(len(data))
	events, err := transcript.Events(r, size)
	if err != nil {
		return nil, err
	}
	if len(events) == 0 && !bytes.Contains(data, []byte(`"sessionId"`)) {
		return nil, ErrForeign
	}
	var cuts []Cut
	for _, i := range moments(events) {
		at := events[i].Offset
		facts, err := transcript.FactsAt(r, at)
		if err != nil {
			return nil, err
		}
		c := cutAt(data[:at], events, i, facts, page(facts))
		if c.needed() {
			cuts = append(cuts, c)
		}
	}
	if len(cuts) == 0 {
		return nil, ErrShort
	}
	return cuts, nil
}

// moments returns the events before which the session is cut.
func moments(events []transcript.Event) []int {
	var kinds [transcript.Compacted + 1][]int
	for i, e := range events {
		kinds[e.Kind] = append(kinds[e.Kind], i)
	}
	calls := kinds[transcript.Called]
	list := kinds[transcript.Compacted]
	list = list[:min(len(list), maxCompactions)]
	middle := kinds[transcript.Asked]
	if len(middle) < minPrompts {
		middle = calls
	}
	if n := len(middle); n > 0 {
		list = append(list, middle[n/2], middle[n*3/4])
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(i int) bool {
		before, _ := slices.BinarySearch(calls, i)
		return before < minBefore || len(calls)-before < minAfter
	})
}

// cutAt compares the page of what was before an event with what came from there.
func cutAt(before []byte, events []transcript.Event, i int, facts transcript.Facts, page string) Cut {
	c := Cut{Compaction: events[i].Kind == transcript.Compacted, Characters: host.Len(page)}
	past, future := events[:i], events[i:]
	count := func(class Class, what string, hit bool) {
		c.Tallies[class].Needed++
		if !hit {
			c.Tallies[class].Missed = append(c.Tallies[class].Missed, what)
		}
	}
	for _, e := range past {
		if e.Kind == transcript.Called {
			c.Calls++
		}
	}
	next := calls(future, callsAhead)

	names := bases(past)
	touched := map[string]bool{}
	for _, e := range next {
		name := path.Base(slashed(e.Path))
		if e.Path == "" || touched[slashed(e.Path)] || !bytes.Contains(before, []byte(name)) {
			continue
		}
		touched[slashed(e.Path)] = true
		count(Files, e.Path, names.in(page, e.Path))
	}

	ran, failed := runs(past)
	again := map[string]bool{}
	for _, e := range next {
		for _, key := range keysOf(e) {
			if ran[key] && !again[key] {
				again[key] = true
				count(Commands, key, strings.Contains(page, key))
			}
		}
	}

	finished, works := map[string]bool{}, map[string]bool{}
	for _, e := range future {
		for _, item := range e.Done {
			finished[item] = true
		}
		if !e.Failed {
			for _, key := range keysOf(e) {
				works[key] = true
			}
		}
	}
	for _, item := range facts.Open() {
		if finished[item.Text] {
			count(Todos, item.Text, strings.Contains(page, host.Cut(strings.Join(strings.Fields(item.Text), " "), maxTodo)))
		}
	}
	for _, key := range failed {
		if works[key] {
			count(Errors, key, strings.Contains(page, key))
		}
	}

	asked := map[string]bool{}
	prompts := 0
	for _, e := range future {
		if e.Kind != transcript.Asked {
			continue
		}
		if prompts++; prompts > promptsAhead {
			break
		}
		for _, term := range transcript.Terms(e.Prompt) {
			if !asked[term] && bytes.Contains(before, []byte(term)) {
				asked[term] = true
				count(Terms, term, strings.Contains(page, term))
			}
		}
	}

	soon, later := pathsOf(next), pathsOf(calls(future, farAhead))
	for _, f := range facts.Files {
		if !names.in(page, f.Path) {
			continue
		}
		c.Listed++
		if soon[path.Base(slashed(f.Path))] {
			c.SoonUsed++
		}
		if later[path.Base(slashed(f.Path))] {
			c.LaterUsed++
		}
	}
	return c
}

// calls returns the first n calls of tools.
func calls(events []transcript.Event, n int) []transcript.Event {
	var list []transcript.Event
	for _, e := range events {
		if e.Kind == transcript.Called && len(list) < n {
			list = append(list, e)
		}
	}
	return list
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func pathsOf(events []transcript.Event) map[string]bool {
	set := map[string]bool{}
	for _, e := range events {
		if e.Path != "" {
			set[path.Base(slashed(e.Path))] = true
		}
	}
	return set
}

// baseNames tells which files share a name.
type baseNames map[string]map[string]bool

func bases(events []transcript.Event) baseNames {
	names := baseNames{}
	for _, e := range events {
		if p := slashed(e.Path); p != "" {
			base := path.Base(p)
			if names[base] == nil {
				names[base] = map[string]bool{}
			}
			names[base][p] = true
		}
	}
	return names
}

// in reports whether a page names a file: by its name, with the folder where other
// files have the same one.
func (n baseNames) in(page, file string) bool {
	file = slashed(file)
	name := path.Base(file)
	if len(n[name]) > 1 {
		name = path.Join(path.Base(path.Dir(file)), name)
	}
	return hasWord(slashed(page), name)
}

// hasWord reports whether text has word with no letter or digit on either side.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isWordByte(text[i-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// keysOf returns what a call runs, apart from looking around.
func keysOf(e transcript.Event) []string {
	if e.Kind != transcript.Called || e.Command == "" {
		return nil
	}
	var keys []string
	for _, c := range shell.Commands(e.Command) {
		if key := c.Key(); !c.LooksAround() && key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// runs returns what has been run, and that of which the newest run failed.
func runs(events []transcript.Event) (ran map[string]bool, failed []string) {
	ran = map[string]bool{}
	broken := map[string]bool{}
	for _, e := range events {
		for _, key := range keysOf(e) {
			ran[key], broken[key] = true, e.Failed
		}
	}
	for key, is := range broken {
		if is {
			failed = append(failed, key)
		}
	}
	slices.Sort(failed)
	return ran, failed
}

func mean(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// Report is what came out over some sessions. Shares are in percent.
type Report struct {
	Sessions   int                `json:"sessions"`
	Cuts       int                `json:"cuts"`
	Overall    float64            `json:"overall"` // mean of the sessions, each the mean of its cuts
	Classes    map[string]float64 `json:"classes"` // mean of the cuts that needed some
	Needed     map[string]int     `json:"needed"`
	Characters float64            `json:"characters"`      // mean size of a page
	Per1000    float64            `json:"per_1000"`        // overall, for 1,000 characters
	Soon       float64            `json:"listed_used_10"`  // share of listed files that the next 10 calls touch
	Later      float64            `json:"listed_used_30"`  // and the next 30
	Worst      []Worst            `json:"worst,omitempty"` // cuts, the worst first
	Skipped    []Skipped          `json:"skipped,omitempty"`
}

// Worst is a cut of which a page said little.
type Worst struct {
	Path    string              `json:"path"`
	Calls   int                 `json:"calls"` // before the cut
	Score   float64             `json:"score"`
	Missing map[string][]string `json:"missing"`
}

// Skipped is a file that was not measured, and why.
type Skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// maxWorst is how many of the worst cuts a report names.
const maxWorst = 5

// Result is what Session said of one file.
type Result struct {
	Path string
	Cuts []Cut
	Err  error
}

// Sum adds up results.
func Sum(results []Result) Report {
	rep := Report{Classes: map[string]float64{}, Needed: map[string]int{}}
	var sessions, sizes []float64
	var byClass [classes][]float64
	var listed, soon, later int
	for _, res := range results {
		if res.Err != nil {
			rep.Skipped = append(rep.Skipped, Skipped{res.Path, res.Err.Error()})
			continue
		}
		rep.Sessions++
		rep.Cuts += len(res.Cuts)
		var scores []float64
		for _, c := range res.Cuts {
			scores = append(scores, c.Score())
			sizes = append(sizes, float64(c.Characters))
			listed, soon, later = listed+c.Listed, soon+c.SoonUsed, later+c.LaterUsed
			w := Worst{res.Path, c.Calls, percent(c.Score()), map[string][]string{}}
			for class, t := range c.Tallies {
				if t.Needed > 0 {
					byClass[class] = append(byClass[class], t.Recall())
					rep.Needed[Names[class]] += t.Needed
				}
				if len(t.Missed) > 0 {
					w.Missing[Names[class]] = t.Missed
				}
			}
			if len(w.Missing) > 0 {
				rep.Worst = append(rep.Worst, w)
			}
		}
		sessions = append(sessions, mean(scores))
	}
	slices.SortStableFunc(rep.Worst, func(a, b Worst) int { return cmp.Compare(a.Score, b.Score) })
	rep.Worst = rep.Worst[:min(len(rep.Worst), maxWorst)]
	if rep.Sessions == 0 {
		return rep
	}
	rep.Overall, rep.Characters = percent(mean(sessions)), math.Round(mean(sizes))
	rep.Per1000 = math.Round(rep.Overall/rep.Characters*10_000) / 10
	for class, list := range byClass {
		if len(list) > 0 {
			rep.Classes[Names[class]] = percent(mean(list))
		}
	}
	if listed > 0 {
		rep.Soon, rep.Later = percent(float64(soon)/float64(listed)), percent(float64(later)/float64(listed))
	}
	return rep
}

// percent returns a share in percent with one decimal.
func percent(share float64) float64 { return math.Round(share*1000) / 10 }

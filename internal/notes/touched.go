package notes

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Room is how many entries of each kind a page may list. What these numbers are
// worth can be measured (docs/continuity.md).
type Room struct {
	Edited, Read, Before, Named int // files
	Ran                         int // commands
	Also                        int // programs
	Terms                       int
	Seen                        int // files that were found and not opened
	Failed                      int // commands, and the lines of their output are shorter when there is little room
	Prompts                     int
	Left                        int // what earlier sessions left open
	Dirty                       int // files with changes that are not committed

	Percent int  // of the usual room
	Short   bool // of long paths only the end is shown
}

// usual is the room of a page of a session of some hours.
var usual = Room{Edited: 25, Read: 15, Before: 10, Named: 8, Ran: 6, Also: 15, Terms: 15, Seen: 8, Failed: 8, Prompts: 3, Left: 8, Dirty: 10}

// times returns the room with percent of the entries of each kind.
func (r Room) times(percent int) Room {
	for _, n := range []*int{&r.Edited, &r.Read, &r.Before, &r.Named, &r.Also, &r.Terms, &r.Seen} {
		*n = *n * percent / 100
	}
	r.Percent = percent
	if percent < 100 {
		for _, n := range []*int{&r.Ran, &r.Failed, &r.Prompts, &r.Left, &r.Dirty} {
			*n = max(1, *n*percent/100)
		}
	}
	return r
}

// Text returns how long a text may be that has at most n characters.
func (r Room) Text(n int) int { return min(n, max(n/3, n*r.Percent/150)) }

// Fill returns the page that write makes with the most room with which it has at
// most limit characters (host.Len); where none does, that with the least.
func Fill(limit int, write func(Room) string) string {
	rooms := make([]Room, 0, 20)
	for _, percent := range [...]int{250, 225, 200, 180, 160, 145, 130, 115, 100} {
		rooms = append(rooms, usual.times(percent))
	}
	for _, percent := range [...]int{100, 90, 80, 70, 60, 50, 40, 30, 20} {
		room := usual.times(percent)
		room.Short = true
		rooms = append(rooms, room)
	}
	// Each has less room than the one before it.
	best := ""
	sort.Search(len(rooms)-1, func(i int) bool {
		page := write(rooms[i])
		fits := host.Len(page) <= limit
		if fits {
			best = page
		}
		return fits
	})
	if best == "" {
		return write(rooms[len(rooms)-1])
	}
	return best
}

// shorten returns the last three parts of a longer path.
func shorten(p string) string {
	from := len(p)
	for range 3 {
		from = strings.LastIndexAny(p[:from], `/\`)
		if from < len("…/") {
			return p
		}
	}
	return "…" + p[from:]
}

// Touched returns a line for each kind of files that a session touched, the newest
// first, as many of them in each as there is room for. Each path is shown as show
// has it, in mark, and once.
func Touched(f transcript.Facts, room Room, mark string, show func(path string) string) []string {
	var lines []string
	shown, based := map[string]bool{}, map[string]bool{}
	for _, kind := range [...]struct {
		label string
		paths []string
		most  int
		bare  bool // a name without its folder is not listed where one with it is
	}{
		{"Edited: ", f.Paths(transcript.Edited), room.Edited, false},
		{"Read: ", f.Paths(transcript.Read), room.Read, false},
		{"Edited before the last compaction: ", f.Paths(transcript.EditedBefore), room.Before, false},
		{"Named in commands: ", f.Paths(transcript.Named), room.Named, true},
		{"Found, not opened: ", f.Seen, room.Seen, true},
	} {
		var names []string
		for _, file := range kind.paths {
			if name := show(file); !shown[name] && !(kind.bare && based[name]) {
				shown[name], based[path.Base(name)] = true, true
				if room.Short {
					name = shorten(name)
				}
				names = append(names, mark+name+mark)
			}
		}
		if len(names) > 0 && kind.most > 0 {
			lines = append(lines, kind.label+Some(names, kind.most, func(s string) string { return s }))
		}
	}
	return lines
}

// Base returns the directory that paths are written from: the project's, and for a
// session that touched nothing there, the one it stood in.
func Base(f transcript.Facts, project string) string {
	in := func(dir string) bool {
		return dir != "" && slices.ContainsFunc(f.Files, func(file transcript.File) bool { return Below(dir, file.Path) != "" })
	}
	if !in(project) && in(f.Cwd) {
		return f.Cwd
	}
	return project
}

// Below returns an absolute path as one below dir, "" where it is not.
func Below(dir, p string) string {
	if rel, ok := state.Below(dir, p); ok && filepath.IsAbs(p) {
		return rel
	}
	return ""
}

// Some returns the first most of list, each as show has it, and how many more
// there are.
func Some(list []string, most int, show func(string) string) string {
	var shown []string
	for _, s := range list[:min(len(list), most)] {
		shown = append(shown, show(s))
	}
	s := strings.Join(shown, ", ")
	if more := len(list) - len(shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

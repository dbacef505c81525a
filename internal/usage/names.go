package usage

import (
	"cmp"
	"strings"
)

// nameKind is what a name is of.
type nameKind byte

// The kinds.
const (
	modelIDs     nameKind = 'm'
	sessions     nameKind = 's' // of a project
	projects     nameKind = 'p' // by the directory of its logs
	projectPaths nameKind = 'w' // where the project is, which is not always known
)

// name is a text that replies refer to by its number.
type name struct {
	kind nameKind
	id   uint32
	of   uint32 // the project of a session
	text string
	size int // of the text, while it is being put together
}

// names are all names, by kind and number.
type names struct {
	lists map[nameKind][]name
	ids   map[nameKind]map[string]uint32 // by key
	fresh func(name)                     // told of each new one
	key   []byte
}

func (l *names) clear() { l.lists, l.ids = map[nameKind][]name{}, nil }

// byText makes the numbers of the names known, which only rows are in need of.
func (l *names) byText() {
	l.ids = map[nameKind]map[string]uint32{modelIDs: {}, sessions: {}, projects: {}}
	for kind, ids := range l.ids {
		for _, n := range l.lists[kind] {
			ids[string(l.keyOf(n.of, n.text))] = n.id
		}
	}
}

// put adds a name that has its number already.
func (l *names) put(n name) {
	list := l.lists[n.kind]
	for int(n.id) >= len(list) {
		list = append(list, name{kind: n.kind, id: uint32(len(list))})
	}
	list[n.id] = n
	l.lists[n.kind] = list
}

func (l *names) keyOf(of uint32, text string) []byte {
	l.key = append(l.key[:0], text...)
	return append(l.key, byte(of), byte(of>>8), byte(of>>16), byte(of>>24))
}

// id returns the number of a name, and gives it one.
func (l *names) id(kind nameKind, text []byte, of uint32) uint32 {
	l.key = append(append(l.key[:0], text...), byte(of), byte(of>>8), byte(of>>16), byte(of>>24))
	if id, ok := l.ids[kind][string(l.key)]; ok {
		return id
	}
	n := name{kind: kind, id: uint32(len(l.lists[kind])), of: of, text: string(text[:min(len(text), maxName)])}
	l.ids[kind][string(l.key)] = n.id // by all of it, where it is too long to be kept
	l.lists[kind] = append(l.lists[kind], n)
	l.fresh(n)
	return n.id
}

// get returns a name, one without a text when it was lost.
func (l *names) get(kind nameKind, id uint32) name {
	if list := l.lists[kind]; int(id) < len(list) {
		return list[id]
	}
	return name{kind: kind, id: id}
}

// compare compares two names by their texts. One that was lost comes last.
func (l *names) compare(kind nameKind, a, b uint32) int {
	if a == b {
		return 0
	}
	m, n := l.get(kind, a), l.get(kind, b)
	switch c := cmp.Compare(m.text, n.text); {
	case m.text == "":
		return 1
	case n.text == "":
		return -1
	case c != 0 || kind != sessions:
		return c
	}
	return l.compare(projects, m.of, n.of)
}

// project returns what people call a project: where it is, or else the name of the
// directory of its logs.
func (l *names) project(id uint32) string {
	return cmp.Or(l.get(projectPaths, id).text, l.get(projects, id).text)
}

// placed reports whether it is known where a project is.
func (l *names) placed(project uint32) bool { return l.get(projectPaths, project).text != "" }

// place notes that a session of a project was in a directory. That is where the
// project is if its logs are named after it: sessions change their directory.
func (l *names) place(project uint32, cwd string) {
	if logsOf(cwd) != l.get(projects, project).text || len(cwd) > maxName {
		return
	}
	n := name{kind: projectPaths, id: project, text: cwd}
	l.put(n)
	l.fresh(n)
}

// logsOf returns the name of the directory in which the host keeps the logs of a
// project.
func logsOf(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, path)
}

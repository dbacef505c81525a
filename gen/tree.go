package gen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/problem"
)

// file is one generated file. Its mode is 0644, or 0755 for a program.
type file struct {
	Data []byte
	Mode fs.FileMode
}

// tree is a set of files by slash-separated path, relative to the root of a
// project, of a marketplace or of a plugin.
type tree map[string]file

// paths returns the paths of the tree, sorted.
func (t tree) paths() []string { return slices.Sorted(maps.Keys(t)) }

// sub returns the files below dir, with their paths relative to it.
func (t tree) sub(dir string) tree {
	sub := tree{}
	for path, f := range t {
		if rest, ok := strings.CutPrefix(path, dir+"/"); ok {
			sub[rest] = f
		}
	}
	return sub
}

// digest returns a hash over every file of a plugin: path, mode and bytes.
// Two trees with the same digest are the same plugin to everybody.
func (t tree) digest(plugin string) string {
	h := sha256.New()
	sub := t.sub(pluginDir(plugin))
	for _, path := range sub.paths() {
		f := sub[path]
		fmt.Fprintf(h, "%s\x00%04o\x00%d\x00", path, f.Mode.Perm(), len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// inventory says which files a run of the generator wrote, so that a later
// one can tell its own files from those of others.
type inventory struct {
	Files map[string]string `json:"files"` // path → sha256 of the content
}

// inventory returns the inventory of t.
func (t tree) inventory() inventory {
	inv := inventory{Files: map[string]string{}}
	for path, f := range t {
		inv.Files[path] = hash(f.Data)
	}
	return inv
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readInventory returns the inventory in fsys; without one, an empty one.
func readInventory(fsys fs.FS) (inventory, error) {
	var inv inventory
	data, err := readFile(fsys, "", inventoryPath)
	if errors.Is(err, fs.ErrNotExist) {
		return inv, nil // never generated here: nothing is ours
	} else if err != nil {
		return inv, err
	}
	if err := json.Unmarshal(data, &inv); err != nil {
		return inv, problem.Input("remove it and generate again", "%q is not valid: %w", inventoryPath, err)
	}
	for path := range inv.Files {
		if !fs.ValidPath(path) || path == "." {
			return inv, problem.Input("remove it and generate again", "%q names %q, which is not a path in this project", inventoryPath, path)
		}
	}
	return inv, nil
}

// encode returns v as JSON the way every generated file has it: keys sorted,
// two spaces, characters as they are, one newline at the end.
func encode(v any) []byte {
	raw, err := marshal(v)
	if err != nil {
		panic(err) // only plain data of this package comes in
	}
	return append(layOut(nil, raw, "\n"), '\n')
}

// marshal is json.Marshal with characters as they are.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// layOut appends a JSON value without spaces to out: keys sorted, since encoding/json
// sorts those of maps and not those of structs, and on a line each. line begins one
// as deep as the value is.
func layOut(out, value []byte, line string) []byte {
	type member struct {
		name       string
		key, value []byte
	}
	var members []member
	switch value[0] {
	case '{':
		jsonscan.Object(value, func(key, v []byte) {
			members = append(members, member{jsonscan.Text([]byte(`"` + string(key) + `"`)), key, v})
		})
		slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	case '[':
		jsonscan.Array(value, func(v []byte) { members = append(members, member{value: v}) })
	}
	if len(members) == 0 {
		return append(out, value...)
	}
	below := line + "  "
	for i, m := range members {
		if i == 0 {
			out = append(out, value[0])
		} else {
			out = append(out, ',')
		}
		out = append(out, below...)
		if value[0] == '{' {
			out = append(append(append(out, '"'), m.key...), `": `...)
		}
		out = layOut(out, m.value, below)
	}
	return append(append(out, line...), value[len(value)-1])
}

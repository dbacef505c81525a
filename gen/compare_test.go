package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// comparePlugins says how the plugin in the directory generated is not the one in
// original: JSON and frontmatter by value, all else by bytes, and every file by its
// run bit. It knows nothing of how the generator works.
func comparePlugins(t testing.TB, original, generated string) (out []string) {
	t.Helper()
	was, is := filesBelow(t, original), filesBelow(t, generated)
	for _, name := range slices.Sorted(keysOf(was, is)) {
		a, here := was[name]
		b, there := is[name]
		switch {
		case !here:
			out = append(out, name+" is new")
		case !there:
			out = append(out, name+" is missing")
		case runtime.GOOS != "windows" && a.run != b.run:
			out = append(out, fmt.Sprintf("%s has the run bit %v, and had %v", name, b.run, a.run))
		case !sameValue(name, a.data, b.data):
			out = append(out, fmt.Sprintf("%s is %.300q, and was %.300q", name, b.data, a.data))
		}
	}
	return out
}

func keysOf(trees ...map[string]content) func(func(string) bool) {
	all := map[string]bool{}
	for _, tree := range trees {
		for name := range tree {
			all[name] = true
		}
	}
	return func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	}
}

type content struct {
	data []byte
	run  bool
}

// filesBelow returns the files of a plugin, links followed.
func filesBelow(t testing.TB, dir string) map[string]content {
	t.Helper()
	out := map[string]content{}
	var walk func(string)
	walk = func(at string) {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(at)))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range entries {
			name := path.Join(at, d.Name())
			file := filepath.Join(dir, filepath.FromSlash(name))
			info, err := os.Stat(file)
			switch {
			case err != nil:
				t.Fatal(err)
			case info.IsDir() && d.Name() != ".git":
				walk(name)
			case info.Mode().IsRegular() && name != marketFile:
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				out[name] = content{data, info.Mode()&0o111 != 0}
			}
		}
	}
	walk(".")
	return out
}

func sameValue(name string, a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	switch path.Ext(name) {
	case ".json":
		var x, y any
		return json.Unmarshal(bytes.TrimPrefix(a, []byte("\ufeff")), &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
	case ".md":
		x, text, ok := splitFrontmatter(a)
		y, other, both := splitFrontmatter(b)
		return ok && both && reflect.DeepEqual(x, y) && text == other
	}
	return false
}

// splitFrontmatter returns what stands between the first two lines --- and what
// comes after, without the blank lines around it.
func splitFrontmatter(data []byte) (front map[string]any, text string, ok bool) {
	_, rest, ok := strings.Cut(string(data), "---\n")
	head, text, ends := strings.Cut(rest, "\n---\n")
	return front, strings.TrimSpace(text), ok && ends && yaml.Unmarshal([]byte(head), &front) == nil
}

// The comparison finds what it is there for.
func TestComparePlugins(t *testing.T) {
	t.Parallel()
	base := map[string]string{"a.json": `{"x": 1}`, "b.md": "---\na: 1\nb: [x]\n---\ntext\n", "c!": "#!", "d": "\x00"}
	for name, tt := range map[string]struct {
		edit map[string]string
		want string
	}{
		"nothing":           {nil, ""},
		"order and spaces":  {map[string]string{"a.json": `{ "x":1 }`, "b.md": "---\nb:\n  - x\na: 1\n---\n\ntext\n"}, ""},
		"another value":     {map[string]string{"a.json": `{"x": 2}`}, "a.json is"},
		"another front":     {map[string]string{"b.md": "---\na: 2\nb: [x]\n---\ntext\n"}, "b.md is"},
		"another text":      {map[string]string{"b.md": "---\na: 1\nb: [x]\n---\ntexts\n"}, "b.md is"},
		"another byte":      {map[string]string{"d": "\x01"}, "d is"},
		"one more":          {map[string]string{"e": ""}, "e is new"},
		"one less":          {map[string]string{"d": "-"}, "d is missing"},
		"no run bit":        {map[string]string{"c!": "-", "c": "#!"}, "c has the run bit false"},
		"frontmatter ended": {map[string]string{"b.md": "---\na: 1\nb: [x]\ntext\n"}, "b.md is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := map[string]string{}
			for name, text := range base {
				other[name] = text
			}
			for name, text := range tt.edit {
				if other[name] = text; text == "-" {
					delete(other, name)
				}
			}
			got := strings.Join(comparePlugins(t, lay(t, base), lay(t, other)), "\n")
			if runtime.GOOS == "windows" && strings.Contains(tt.want, "run bit") {
				return
			}
			if tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
}

// lay writes files into a new directory: a name that ends in ! is executable, one
// that ends in @ a link to its text.
func lay(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, "!") {
			mode = 0o755
		}
		file := filepath.Join(dir, filepath.FromSlash(strings.TrimRight(name, "!@")))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if strings.HasSuffix(name, "@") {
			err = os.Symlink(filepath.FromSlash(text), file)
		} else {
			err = os.WriteFile(file, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

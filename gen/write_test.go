package gen

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// project opens a project on disk until the test ends.
func project(t *testing.T, dir string) *Project {
	t.Helper()
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// generated returns a project that has been generated.
func generated(t *testing.T) (string, *Project) {
	t.Helper()
	dir := smallProject(t)
	p := project(t, dir)
	if _, err := p.Generate(); err != nil {
		t.Fatal(err)
	}
	return dir, p
}

// changes fails the test unless got is want, as "path what".
func changes(t *testing.T, got []Change, want ...string) {
	t.Helper()
	words := []string{}
	for _, c := range got {
		words = append(words, c.Path+" "+c.What)
	}
	if !slices.Equal(words, want) {
		t.Errorf("changes are %q, want %q", words, want)
	}
}

func TestGenerateThenCheck(t *testing.T) {
	t.Parallel()
	dir, p := generated(t)
	got, err := p.Check()
	if err != nil {
		t.Fatal(err)
	}
	changes(t, got)
	if got, err = p.Generate(); err != nil {
		t.Fatal(err)
	}
	changes(t, got)
	info, err := os.Stat(filepath.Join(dir, "marketplace/plugins/first/bin/ccreload"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("the launcher is %v, %v", info, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "marketplace/plugins/*/.*.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCheckNamesEveryDifference(t *testing.T) {
	t.Parallel()
	dir, p := generated(t)
	const plugin = "marketplace/plugins/first/"
	put(t, dir, plugin+"commands/go.md", "by hand\n")
	put(t, dir, plugin+"notes.txt", "mine\n")
	// A runtime that a build has put there is nobody's mistake.
	put(t, dir, plugin+"bin/ccreload-linux-amd64", "program")
	put(t, dir, plugin+"bin/ccreload.exe", "program")
	for _, err := range []error{
		os.Remove(filepath.Join(dir, plugin+"LICENSE")),
		os.Remove(filepath.Join(dir, OptionsPath)),
		os.Chmod(filepath.Join(dir, plugin+"bin/ccreload"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := p.Check()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		OptionsPath + " missing",
		plugin + "LICENSE missing",
		plugin + "bin/ccreload mode",
		plugin + "commands/go.md changed",
		plugin + "notes.txt orphaned",
	}
	if runtime.GOOS == "windows" {
		want = slices.DeleteFunc(want, func(s string) bool { return strings.HasSuffix(s, " mode") })
	}
	changes(t, got, want...)
}

// What an earlier run wrote and this one does not need is removed, unless it
// was edited; what it never wrote stays.
func TestGenerateRemovesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	dir, _ := generated(t)
	put(t, dir, "marketplace/plugins/second/notes.txt", "mine\n")
	put(t, dir, "marketplace/plugins/second/README.md", "edited\n")
	manifest := small[:strings.Index(small, "  - name: second")]
	put(t, dir, ManifestPath, manifest)
	p := project(t, dir)
	got, err := p.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		if strings.HasPrefix(c.Path, "marketplace/plugins/second/") != (c.What == "orphaned") {
			t.Errorf("%s is %s", c.Path, c.What)
		}
	}
	if got, err = p.Generate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		if c.What == "kept" && c.Path != "marketplace/plugins/second/README.md" {
			t.Errorf("%s is kept", c.Path)
		}
	}
	var left []string
	err = filepath.WalkDir(filepath.Join(dir, "marketplace/plugins/second"), func(path string, d os.DirEntry, err error) error {
		left = append(left, filepath.Base(path))
		return err
	})
	if err != nil || !slices.Equal(left, []string{"second", "README.md", "notes.txt"}) {
		t.Errorf("left are %v, %v", left, err)
	}
	// The edited one is nobody's now; check goes on naming both.
	if got, err = p.Check(); err != nil {
		t.Fatal(err)
	}
	changes(t, got, "marketplace/plugins/second/README.md orphaned", "marketplace/plugins/second/notes.txt orphaned")
}

func TestGenerateLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	dir := smallProject(t)
	others := map[string]string{
		".claude-plugin/other.json": "{}",
		"docs/guide.md":             "mine",
		"README.md":                 "no marks",
		"plugins/first/README.md":   "not generated",
	}
	for name, text := range others {
		put(t, dir, name, text)
	}
	if _, err := project(t, dir).Generate(); err != nil {
		t.Fatal(err)
	}
	for name, text := range others {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != text {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
}

// With something in the way nothing is written at all.
func TestGenerateAllOrNothing(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(t *testing.T, dir string){
		"a directory for a file": func(t *testing.T, dir string) {
			put(t, dir, "marketplace/plugins/second/hooks/hooks.json/x", "")
		},
		"a file for a directory": func(t *testing.T, dir string) {
			put(t, dir, "marketplace/plugins/second", "")
		},
		"a link that leads outside": func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, "marketplace/plugins"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(t.TempDir(), filepath.Join(dir, "marketplace/plugins/second")); err != nil {
				t.Skip(err)
			}
		},
		"an unreadable inventory": func(t *testing.T, dir string) { put(t, dir, InventoryPath, "{") },
		"an inventory that leads outside": func(t *testing.T, dir string) {
			put(t, dir, InventoryPath, `{"files": {"../../x": "0"}}`)
		},
		"half the marks in README": func(t *testing.T, dir string) { put(t, dir, ReadmePath, optionsBegin) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := smallProject(t)
			block(t, dir)
			p := project(t, dir)
			if got, err := p.Generate(); err == nil {
				t.Fatalf("generated: %v", got)
			}
			for _, name := range []string{marketFile, OptionsPath, "marketplace/plugins/first/README.md"} {
				if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
					t.Errorf("%s was written", name)
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, "*/.*.new"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// A link where a file belongs is replaced, never written through.
func TestGenerateReplacesLinks(t *testing.T) {
	t.Parallel()
	dir, _ := generated(t)
	victim := filepath.Join(t.TempDir(), "victim")
	put(t, filepath.Dir(victim), "victim", "precious")
	path := filepath.Join(dir, "marketplace/plugins/first/README.md")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Skip(err)
	}
	p := project(t, dir)
	got, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	changes(t, got, "marketplace/plugins/first/README.md updated")
	if data, err := os.ReadFile(victim); err != nil || string(data) != "precious" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("README.md is %v, %v", info, err)
	}
}

func TestReadmeTables(t *testing.T) {
	t.Parallel()
	dir := smallProject(t)
	put(t, dir, ReadmePath, "# Tools\n\n"+optionsBegin+"\nold\n"+optionsEnd+"\n\nmore\n")
	p := project(t, dir)
	got, err := p.Check()
	if err != nil || !slices.Contains(got, Change{ReadmePath, "changed"}) {
		t.Errorf("check does not see the old table: %v, %v", got, err)
	}
	if got, err = p.Docs(); err != nil {
		t.Fatal(err)
	}
	changes(t, got, OptionsPath+" added", ReadmePath+" updated")
	data, err := os.ReadFile(filepath.Join(dir, ReadmePath))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if !strings.HasPrefix(text, "# Tools\n\n"+optionsBegin+"\n\n**First of all**\n\n| Option |") ||
		!strings.HasSuffix(text, " |\n"+optionsEnd+"\n\nmore\n") || strings.Contains(text, "old") {
		t.Errorf("README is\n%s", text)
	}
	if _, err := p.Generate(); err != nil {
		t.Fatal(err)
	}
	if got, err = p.Check(); err != nil {
		t.Fatal(err)
	}
	changes(t, got)
}

// case F19: content that differs from what was released under the same
// version is refused, by check and by generate.
func TestReleasedContentStands(t *testing.T) {
	t.Parallel()
	dir, p := generated(t)
	releases := Releases{}
	releases.Record(p.Manifest, p.Tree)
	put(t, dir, ReleasedPath, string(releases.Encode()))
	if err := project(t, dir).Released(); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "gen/content/second/second.md", "# Second\n\nDo it better.\n")
	p = project(t, dir)
	const want = "gen/manifest.yaml:2:10: second 1.2.3 was released with other content: raise the version, or take the change back"
	wants(t, p.Released(), want)
	_, err := p.Generate()
	wants(t, err, want)
	if strings.Contains(err.Error(), "first 1.2.3") {
		t.Errorf("a plugin that did not change is named: %v", err)
	}
	put(t, dir, ManifestPath, strings.Replace(small, "version: 1.2.3", "version: 1.2.4", 1))
	if _, err := project(t, dir).Generate(); err != nil {
		t.Errorf("with another version: %v", err)
	}
	put(t, dir, ReleasedPath, "[]")
	if _, err := project(t, dir).Generate(); err == nil || !strings.Contains(err.Error(), "gen/released.json is not readable") {
		t.Errorf("an unreadable record: %v", err)
	}
}

// The digest covers paths, modes and bytes of one plugin and of no other.
func TestDigest(t *testing.T) {
	t.Parallel()
	_, tree := smallTree(t)
	before := tree.Digest("first")
	file := tree["marketplace/plugins/second/README.md"]
	tree["marketplace/plugins/second/README.md"] = File{Data: []byte("x"), Mode: file.Mode}
	if tree.Digest("first") != before {
		t.Error("another plugin counts")
	}
	for name, change := range map[string]func(){
		"bytes": func() {
			tree["marketplace/plugins/first/README.md"] = File{Data: []byte("x"), Mode: 0o644}
		},
		"mode": func() {
			f := tree["marketplace/plugins/first/bin/ccreload"]
			tree["marketplace/plugins/first/bin/ccreload"] = File{Data: f.Data, Mode: 0o644}
		},
		"a new file": func() { tree["marketplace/plugins/first/x"] = File{} },
	} {
		was := tree.Digest("first")
		change()
		if tree.Digest("first") == was {
			t.Errorf("%s do not count", name)
		}
	}
}

func TestFindLooksUpwards(t *testing.T) {
	t.Parallel()
	dir := smallProject(t)
	want, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, dir + "/gen", dir + "/gen/content/first"} {
		if got, err := Find(from); err != nil || got != want {
			t.Errorf("from %s: %s, %v", from, got, err)
		}
	}
	if _, err := Find(t.TempDir()); err == nil || !strings.Contains(err.Error(), "ccreload-gen init DIR") {
		t.Errorf("from elsewhere: %v", err)
	}
}

// A fork is complete, and is generated without anything from here.
func TestInit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "fork")
	files, err := Init(dir, stockTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{ManifestPath, TemplatePath, "FORK.md", "gen/content/cc-reload/snapshot.md"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is not written", want)
		}
	}
	p := project(t, dir)
	if _, err := p.Generate(); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "FORK.md", "mine")
	if _, err := Init(dir, ""); err == nil || !strings.Contains(err.Error(), "choose an empty directory") {
		t.Errorf("a second init: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "FORK.md")); err != nil || string(data) != "mine" {
		t.Errorf("FORK.md is %q, %v", data, err)
	}
}

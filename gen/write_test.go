package gen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// project opens a project on disk until the test ends.
func project(t *testing.T, dir string) *Project {
	t.Helper()
	p, err := open(dir, nil)
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
		os.Remove(filepath.Join(dir, optionsPath)),
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
		optionsPath + " missing",
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
		"a link that leads nowhere": func(t *testing.T, dir string) {
			if err := os.Symlink(filepath.Join(t.TempDir(), "nowhere"), filepath.Join(dir, "marketplace")); err != nil {
				t.Skip(err)
			}
		},
		"a directory for what is written beside": func(t *testing.T, dir string) {
			put(t, dir, "marketplace/plugins/second/.README.md.new/x", "")
		},
		"a link for README": func(t *testing.T, dir string) {
			put(t, dir, "other.md", optionsBegin+optionsEnd)
			if err := os.Symlink("other.md", filepath.Join(dir, readmePath)); err != nil {
				t.Skip(err)
			}
		},
		"a pipe for README": func(t *testing.T, dir string) {
			if err := mkfifo(filepath.Join(dir, readmePath)); err != nil {
				t.Skip(err)
			}
		},
		"a pipe for the inventory": func(t *testing.T, dir string) {
			put(t, dir, "marketplace/x", "")
			if err := mkfifo(filepath.Join(dir, inventoryPath)); err != nil {
				t.Skip(err)
			}
		},
		"a pipe for the record": func(t *testing.T, dir string) {
			if err := mkfifo(filepath.Join(dir, releasedPath)); err != nil {
				t.Skip(err)
			}
		},
		"a pipe for a page": func(t *testing.T, dir string) {
			put(t, dir, "docs/x", "")
			if err := mkfifo(filepath.Join(dir, optionsPath)); err != nil {
				t.Skip(err)
			}
		},
		"an unreadable inventory": func(t *testing.T, dir string) { put(t, dir, inventoryPath, "{") },
		"an inventory that leads outside": func(t *testing.T, dir string) {
			put(t, dir, inventoryPath, `{"files": {"../../x": "0"}}`)
		},
		"half the marks in README": func(t *testing.T, dir string) { put(t, dir, readmePath, optionsBegin) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := smallProject(t)
			block(t, dir)
			p := project(t, dir)
			promptly(t, func() {
				if got, err := p.Generate(); err == nil {
					t.Errorf("generated: %v", got)
				} else if text := sentence(err); strings.Contains(text, "openat") || strings.Contains(text, "lstat") || strings.Contains(text, "escapes") || !strings.Contains(text, ": ") {
					t.Errorf("the error says not what to do: %v", err)
				}
			})
			for _, name := range []string{marketFile, optionsPath, "marketplace/plugins/first/README.md"} {
				if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
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

// What is wrong with the place is said in a sentence that names it.
func TestUnwritableSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "file", "")
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w := &writer{rootFS: &rootFS{root: root}}
	at := func(err error) error { return &os.PathError{Op: "openat", Path: "x", Err: err} }
	for _, tt := range []struct {
		path string
		err  error
		want string
	}{
		{"dir/a", at(fs.ErrPermission), "\"dir/a\" cannot be written: permission denied: make its directory yours to write, or work on a copy of the project"},
		{"dir/a", at(syscall.ENOSPC), "\"dir/a\" cannot be written: " + syscall.ENOSPC.Error() + ": put that right and run the command again"},
		{"dir/.a.new", at(fs.ErrExist), "\"dir/.a.new\" cannot be written: file already exists: move it away and run the command again"},
		{"dir/a", &os.LinkError{Op: "renameat", Err: at(syscall.EROFS)}, "\"dir/a\" cannot be written: " + syscall.EROFS.Error() + ": put that right and run the command again"},
		{"file/a", at(syscall.ENOTDIR), "\"file\" is a file where a directory belongs: move it away and run the command again"},
	} {
		if got := sentence(w.unwritable(tt.path, tt.err)); got != tt.want {
			t.Errorf("%s, %v: got %q, want %q", tt.path, tt.err, got, tt.want)
		}
	}
}

// Killed at any moment, a run leaves what the next one puts right: no file is
// half-written, none is left behind.
func TestGenerateHeals(t *testing.T) {
	t.Parallel()
	changed := strings.NewReplacer("version: 1.2.3", "version: 1.2.4", "  - name: second", "  - name: third").Replace(small)
	steps := len(project(t, smallProject(t)).tree)
	for k := 0; k <= steps; k += 3 {
		dir, _ := generated(t)
		put(t, dir, ManifestPath, changed)
		for _, name := range []string{"README.md", "second.md"} {
			data, err := os.ReadFile(filepath.Join(dir, "gen/content/second", name))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "gen/content/third/"+name, string(data))
		}
		p := project(t, dir)
		// As write does it, and dead after k files.
		w := &writer{rootFS: p.files}
		for _, name := range p.tree.paths() {
			if err := w.stage(name, p.tree[name]); err != nil {
				t.Fatal(err)
			}
		}
		w.steps = slices.DeleteFunc(w.steps, func(s step) bool { return s.path == inventoryPath })
		w.steps = w.steps[:min(k, len(w.steps))]
		if err := w.commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := project(t, dir).Generate(); err != nil {
			t.Fatal(err)
		}
		got, err := p.Check()
		if err != nil {
			t.Fatal(err)
		}
		changes(t, got)
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if strings.HasSuffix(path, ".new") || d.IsDir() && d.Name() == "second" && !strings.Contains(path, "content") {
				t.Errorf("dead after %d files: %s is left", k, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
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
	put(t, dir, readmePath, "# Tools\n\n"+optionsBegin+"\nold\n"+optionsEnd+"\n\nmore\n")
	p := project(t, dir)
	got, err := p.Check()
	if err != nil || !slices.Contains(got, Change{readmePath, "changed"}) {
		t.Errorf("check does not see the old table: %v, %v", got, err)
	}
	if got, err = p.Docs(); err != nil {
		t.Fatal(err)
	}
	changes(t, got, readmePath+" updated", optionsPath+" added")
	data, err := os.ReadFile(filepath.Join(dir, readmePath))
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
	releases := releases{}
	releases.record(p.manifest, p.tree)
	put(t, dir, releasedPath, string(encode(releases)))
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
	put(t, dir, releasedPath, "[]")
	if _, err := project(t, dir).Generate(); err == nil || !strings.Contains(sentence(err), "restore it from git") {
		t.Errorf("an unreadable record: %v", err)
	}
}

// The digest covers paths, modes and bytes of one plugin and of no other.
func TestDigest(t *testing.T) {
	t.Parallel()
	_, tree := smallTree(t)
	before := tree.digest("first")
	readme := tree["marketplace/plugins/second/README.md"]
	tree["marketplace/plugins/second/README.md"] = file{Data: []byte("x"), Mode: readme.Mode}
	if tree.digest("first") != before {
		t.Error("another plugin counts")
	}
	for name, change := range map[string]func(){
		"bytes": func() {
			tree["marketplace/plugins/first/README.md"] = file{Data: []byte("x"), Mode: 0o644}
		},
		"mode": func() {
			f := tree["marketplace/plugins/first/bin/ccreload"]
			tree["marketplace/plugins/first/bin/ccreload"] = file{Data: f.Data, Mode: 0o644}
		},
		"a new file": func() { tree["marketplace/plugins/first/x"] = file{} },
	} {
		was := tree.digest("first")
		change()
		if tree.digest("first") == was {
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
	if _, err := Open(dir + "/gen/content"); err == nil || !strings.Contains(sentence(err), "name the directory of a project") {
		t.Errorf("opened from within: %v", err) // Open takes what it is given
	}
	if _, err := Find(t.TempDir()); err == nil || !strings.Contains(sentence(err), "ccreload-gen init DIR") {
		t.Errorf("from elsewhere: %v", err)
	}
}

// A fork is complete, and is generated without anything from here.
func TestInit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "fork")
	files, err := Init(dir, stockTemplate(t), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{ManifestPath, templatePath, "FORK.md", "gen/content/cc-reload/snapshot.md"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is not written", want)
		}
	}
	p := project(t, dir)
	if _, err := p.Generate(); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "FORK.md", "mine")
	if _, err := Init(dir, "", false); err == nil || !strings.Contains(sentence(err), "choose another directory, new or empty") {
		t.Errorf("a second init: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "FORK.md")); err != nil || string(data) != "mine" {
		t.Errorf("FORK.md is %q, %v", data, err)
	}
}

// A place that cannot take a fork is named, with what to do, and is
// as it was.
func TestInitRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		place func(path string) error
		below string
		want  string
	}{
		"a file":            {func(p string) error { return os.WriteFile(p, nil, 0o644) }, "", " cannot be a directory: not a directory: choose another directory, new or empty"},
		"below a file":      {func(p string) error { return os.WriteFile(p, nil, 0o644) }, "/sub/sub", "not a directory: choose another directory, new or empty"},
		"a pipe":            {mkfifo, "", " cannot be a directory: not a directory"},
		"a dangling link":   {func(p string) error { return os.Symlink("nowhere", p) }, "", " cannot be a directory: file exists: choose another directory"},
		"a device":          {func(p string) error { return os.Symlink(os.DevNull, p) }, "", " cannot be a directory: not a directory"},
		"a file called gen": {func(p string) error { return errors.Join(os.Mkdir(p, 0o755), os.WriteFile(p+"/gen", nil, 0o644)) }, "", "\"gen\" is a file where a directory belongs: move it away"},
		"another manifest":  {func(p string) error { return errors.Join(os.MkdirAll(p+"/gen/manifest.yaml", 0o755)) }, "", " has a file \"gen/manifest.yaml\" already: choose another directory"},
		"a template of others": {func(p string) error {
			return errors.Join(os.Mkdir(p, 0o755), os.WriteFile(p+"/plugin.tmpl", nil, 0o644))
		}, "", " has a file \"plugin.tmpl\" already: choose another directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := filepath.Join(t.TempDir(), "fork")
			if err := tt.place(at); err != nil {
				t.Skip(err)
			}
			promptly(t, func() {
				if _, err := Init(at+tt.below, stockTemplate(t), false); err == nil || !strings.Contains(sentence(err), tt.want) {
					t.Errorf("err %v, want %q", err, tt.want)
				}
			})
			for _, file := range []string{"FORK.md", "gen/content"} {
				if _, err := os.Lstat(filepath.Join(at, file)); err == nil {
					t.Errorf("%s was written", file)
				}
			}
		})
	}
}

// A fork that was interrupted has no manifest yet; the next init completes it.
func TestInitHeals(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fork")
	files, err := Init(dir, stockTemplate(t), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ManifestPath, templatePath, "gen/content/cc-reload/snapshot.md"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, "gen/.manifest.yaml.new", "name: cc-rel")
	again, err := Init(dir, stockTemplate(t), false)
	if err != nil || !slices.Equal(again, files) {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "gen/.manifest.yaml.new")); err == nil {
		t.Error("what was half-written is left")
	}
	project(t, dir)
}

// Init removes nothing, whatever an inventory there says.
func TestInitLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	dir, _ := generated(t)
	for _, name := range []string{"gen", templatePath} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Init(dir, stockTemplate(t), false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "marketplace/plugins/first/README.md")); err != nil {
		t.Error(err)
	}
}

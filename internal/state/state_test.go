package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const wait = 5 * time.Second

func write(t *testing.T, d Dir, name, data string) {
	t.Helper()
	if err := d.WithLock(wait, func(tx *Tx) error { return tx.Write(name, []byte(data)) }); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, d Dir, name string) string {
	t.Helper()
	b, err := d.Read(name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDirIgnoresItself(t *testing.T) {
	d := NewDir(filepath.Join(t.TempDir(), ".reload"))
	if d.Kind("session.md") != Absent || d.Kind("") != Absent && d.Names() != nil {
		t.Fatal("a directory that is not there has something in it")
	}
	write(t, d, "session.md", "one")
	write(t, d, "session.md", "two")
	if got := read(t, d, "session.md"); got != "two" {
		t.Errorf("session.md = %q", got)
	}
	if got := read(t, d, ".gitignore"); got != "*\n" {
		t.Errorf(".gitignore = %q", got)
	}
	if got, want := d.Names(), []string{".gitignore", ".lock", "session.md"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q: temporary files stay behind", got, want)
	}
}

// A file that a killed writer left half-written is gone after the next write.
func TestWriteSweepsWhatAKilledWriterLeft(t *testing.T) {
	d := NewDir(t.TempDir())
	os.WriteFile(d.Path(tempName), []byte("half"), 0o600)
	write(t, d, "session.md", "whole")
	if slices.Contains(d.Names(), tempName) || read(t, d, "session.md") != "whole" {
		t.Errorf("names %q", d.Names())
	}
}

func TestLinksAndOddThings(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	os.WriteFile(outside, []byte("secret"), 0o600)
	d := NewDir(t.TempDir())
	write(t, d, "inside", "fine")
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, d.Path(name)); err != nil {
			t.Skip(err)
		}
	}
	link(outside, "leaves")
	link("nowhere", "dangling")
	link("inside", "stays")
	os.Mkdir(d.Path("dir"), 0o755)
	for name, want := range map[string]Kind{"leaves": Other, "dangling": Other, "dir": Other, "stays": File, "inside": File, "none": Absent} {
		if got := d.Kind(name); got != want {
			t.Errorf("Kind(%s) = %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"leaves", "dangling", "dir"} {
		if b, err := d.Read(name, 100); err == nil {
			t.Errorf("Read(%s) = %q", name, b)
		}
	}
	err := d.WithLock(wait, func(tx *Tx) error {
		if err := tx.Remove("dir"); !errors.Is(err, ErrUnsafe) {
			t.Errorf("Remove(dir): %v", err)
		}
		if err := tx.Write("dir", nil); err == nil {
			t.Error("a directory was replaced")
		}
		return tx.Write("leaves", []byte("ours"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(outside); string(b) != "secret" || read(t, d, "leaves") != "ours" {
		t.Errorf("the link was followed: outside %q", b)
	}
	if slices.Contains(d.Names(), tempName) {
		t.Error("a failed write left its temporary file")
	}
}

// A repository may ship .reload itself as a link.
func TestDirThatIsALink(t *testing.T) {
	target := t.TempDir()
	os.WriteFile(filepath.Join(target, "session.md"), []byte("x"), 0o600)
	path := filepath.Join(t.TempDir(), ".reload")
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	d := NewDir(path)
	if _, err := d.Read("session.md", 100); !errors.Is(err, ErrUnsafe) {
		t.Errorf("read: %v", err)
	}
	if err := d.WithLock(wait, func(tx *Tx) error { return tx.Write("a", nil) }); !errors.Is(err, ErrUnsafe) {
		t.Errorf("write: %v", err)
	}
	if d.Kind("session.md") != Other {
		t.Errorf("kind %v", d.Kind("session.md"))
	}
}

func TestReadIsBounded(t *testing.T) {
	d := NewDir(t.TempDir())
	write(t, d, "a", "12345")
	if _, err := d.Read("a", 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("err %v", err)
	}
	if _, err := d.Read("b", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err %v", err)
	}
}

func TestDoIsExclusive(t *testing.T) {
	d := NewDir(t.TempDir())
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			err := d.WithLock(wait, func(tx *Tx) error {
				b, _ := tx.Read("n", 1000)
				return tx.Write("n", append(b, 'x'))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := read(t, d, "n"); got != strings.Repeat("x", 40) {
		t.Errorf("%d of 40 updates are there", len(got))
	}
	d.WithLock(wait, func(*Tx) error {
		if err := d.WithLock(0, func(*Tx) error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("second Do: %v", err)
		}
		return nil
	})
}

func TestWriteFileKeepsLinkAndMode(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "settings.json")
	os.WriteFile(real, []byte("old"), 0o640)
	if err := os.Symlink("real.json", link); err != nil {
		t.Skip(err)
	}
	if err := WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(real)
	if b, _ := os.ReadFile(real); string(b) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("real is %q, mode %v", b, info.Mode())
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// A file that its owner has made read-only stays, and an error has the name of the
// file and not of the one that was to become it.
func TestWriteFileThatIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "LATER.md")
	os.WriteFile(path, []byte("old"), 0o444)
	if err := WriteFile(path, []byte("new"), 0o644); !errors.Is(err, ErrProtected) {
		t.Errorf("err %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("content %q", b)
	}
	missing := filepath.Join(t.TempDir(), "none", "LATER.md")
	if err := WriteFile(missing, nil, 0o644); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("err %v, without %q", err, missing)
	}
}

func TestCreateExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var made int
	for range 3 {
		ok, err := CreateExclusive(path, []byte("me"))
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			made++
		}
	}
	if made != 1 {
		t.Errorf("created %d times", made)
	}
}

func TestAppendRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for range 5 {
		if err := Append(path, []byte("0123456789"), 25); err != nil {
			t.Fatal(err)
		}
	}
	now, _ := os.ReadFile(path)
	before, _ := os.ReadFile(path + ".1")
	if len(now) != 22 || len(before) != 33 {
		t.Errorf("log has %d bytes, the one before %d", len(now), len(before))
	}
}

func TestPairs(t *testing.T) {
	p := ParsePairs([]byte("\ufeff# note: x\r\na: 1\r\n\r\nb:2\na: 3\n"))
	for key, want := range map[string]string{"a": "3", "b": "2", "# note": "", "c": ""} {
		if got := p.Get(key); got != want {
			t.Errorf("Get(%q) = %q, want %q", key, got, want)
		}
	}
	for _, tt := range []struct{ key, value, want string }{
		{"a", "9", "# note: x\na: 9\n\nb:2\n"},
		{"b", "", "# note: x\na: 1\n\na: 3\n"},
		{"c", "x: y", "# note: x\na: 1\n\nb:2\na: 3\nc: x: y\n"},
	} {
		if got := string(p.Set(tt.key, tt.value).Bytes()); got != tt.want {
			t.Errorf("Set(%q, %q) = %q, want %q", tt.key, tt.value, got, tt.want)
		}
	}
	if got := (Pairs{}).Set("a", "1").Set("a", "").Bytes(); got != nil {
		t.Errorf("got %q", got)
	}
}

// A machine that loses its power has the old file or the new one: what is written
// is on the disk before it takes the other's place. Not in parallel: Flush is one
// for the process.
func TestFilesAreFlushedBeforeTheyReplace(t *testing.T) {
	dir := NewDir(filepath.Join(t.TempDir(), "state"))
	path := filepath.Join(t.TempDir(), "settings.json")
	for name, put := range map[string]func(text string) error{
		dir.Path("file"): func(text string) error { write(t, dir, "file", text); return nil },
		path:             func(text string) error { return WriteFile(path, []byte(text), 0o600) },
	} {
		if err := put("old"); err != nil {
			t.Fatal(err)
		}
		flushed := false
		Flush = func(f *os.File) error {
			there, err := os.ReadFile(name)
			written, err2 := os.ReadFile(f.Name())
			if err := errors.Join(err, err2); err != nil || string(there) != "old" || string(written) != "new" {
				t.Errorf("%s: flushed %q while %q is there: %v", name, written, there, err)
			}
			flushed = true
			return f.Sync()
		}
		err := put("new")
		Flush = (*os.File).Sync
		if now, _ := os.ReadFile(name); err != nil || !flushed || string(now) != "new" {
			t.Errorf("%s: %q, flushed: %v, %v", name, now, flushed, err)
		}
	}
}

// A file that grows is cut to where its writer knows it, and read in parts.
func TestExtend(t *testing.T) {
	d := NewDir(filepath.Join(t.TempDir(), "state"))
	extend := func(name string, at int64, text string) error {
		return d.WithLock(wait, func(tx *Tx) error { return tx.Extend(name, at, []byte(text)) })
	}
	for _, tt := range []struct {
		at         int64
		text, want string
	}{{0, "one", "one"}, {3, "two", "onetwo"}, {2, "x", "onx"}, {3, "", "onx"}, {0, "new", "new"}} {
		if err := extend("log", tt.at, tt.text); err != nil {
			t.Fatal(err)
		}
		if got := read(t, d, "log"); got != tt.want {
			t.Errorf("%q at %d makes %q, want %q", tt.text, tt.at, got, tt.want)
		}
	}
	if err := extend("log", 4, "x"); err == nil || read(t, d, "log") != "new" {
		t.Errorf("there is a hole: %v", err)
	}
	v := d.View()
	defer v.Close()
	f, err := v.Open("log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	part := make([]byte, 2)
	if _, err := f.ReadAt(part, 1); err != nil || string(part) != "ew" {
		t.Errorf("%q, %v", part, err)
	}
	if _, err := v.Open("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := NewDir(filepath.Join(t.TempDir(), "none")).View().Open("log"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(outside, d.Path("link")), os.Mkdir(d.Path("dir"), 0o755)); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"link", "dir"} {
		if err := extend(name, 0, "x"); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", name, err)
		}
		if f, err := v.Open(name); err == nil {
			t.Errorf("%s is opened: %s", name, f.Name())
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "outside" {
		t.Errorf("%q, %v", data, err)
	}
}

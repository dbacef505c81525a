package state

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// What stands in the place of a file or of the directory is named with its
// path, with what it is, and with what to do about it.
func TestOddThingsAreNamed(t *testing.T) {
	t.Parallel()
	d := NewDir(t.TempDir())
	write(t, d, "file", "x")
	os.Mkdir(d.Path("dir"), 0o755)
	os.WriteFile(d.Path("large"), make([]byte, 3<<10), 0o600)
	for _, link := range [][2]string{{"nowhere", "dangling"}, {"../outside", "leaves"}, {"dir", "to-dir"}} {
		if err := os.Symlink(link[0], d.Path(link[1])); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]string{
		"dir":      "is a directory, not a file; move it away",
		"to-dir":   "is a link to a directory, not a file; move it away",
		"dangling": "is a link that leads nowhere or out of its directory, not a file; move it away",
		"leaves":   "is a link that leads nowhere or out of its directory, not a file; move it away",
	} {
		err := d.NotRegular(name)
		if !errors.Is(err, ErrUnsafe) || err.Error() != d.Path(name)+" "+want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"file", "none"} {
		if err := d.NotRegular(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Read("dir", 1); err == nil || err.Error() != d.NotRegular("dir").Error() {
		t.Errorf("read: %v", err)
	}
	if _, err := d.Read("leaves", 1); err == nil || err.Error() != d.NotRegular("leaves").Error() {
		t.Errorf("read through a link: %v", err)
	}
	if _, err := d.Read("large", 2<<10); !errors.Is(err, ErrTooLarge) || err.Error() != d.Path("large")+" is larger than 2 KiB" {
		t.Errorf("read: %v", err)
	}
	err := d.WithLock(wait, func(tx *Tx) error {
		for what, err := range map[string]error{
			"write":  tx.Write("dir", nil),
			"remove": tx.Remove("dir"),
		} {
			if !errors.Is(err, ErrUnsafe) || err.Error() != d.NotRegular("dir").Error() {
				t.Errorf("%s: %v", what, err)
			}
		}
		return nil
	})
	if err != nil || read(t, d, "file") != "x" {
		t.Errorf("%v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	base := NewDir(t.TempDir())
	os.WriteFile(base.Path("plain"), nil, 0o600)
	os.MkdirAll(base.Path("odd-lock/"+lockName), 0o755)
	os.Mkdir(base.Path("fine"), 0o755)
	for name, want := range map[string]string{
		"none":     "",
		"fine":     "",
		"plain":    base.Path("plain") + " is a file, not a directory; move it away",
		"odd-lock": base.Path("odd-lock/"+lockName) + " is a directory, not a file; move it away",
	} {
		d := NewDir(base.Path(name))
		err := d.Check()
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrUnsafe) || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
		if done := d.WithLock(wait, func(*Tx) error { return nil }); done == nil || !strings.Contains(done.Error(), want) {
			t.Errorf("%s: Do says %v", name, done)
		}
	}
}

// A disk that was full when the directory came into being leaves no empty
// .gitignore for good.
func TestEmptyIgnoreIsRepaired(t *testing.T) {
	t.Parallel()
	d := NewDir(t.TempDir())
	os.WriteFile(d.Path(ignoreName), nil, 0o600)
	write(t, d, "session.md", "x")
	if got := read(t, d, ignoreName); got != "*\n" {
		t.Errorf("%q", got)
	}
	os.WriteFile(d.Path(ignoreName), []byte("/x\n"), 0o600)
	write(t, d, "session.md", "y")
	if got := read(t, d, ignoreName); got != "/x\n" {
		t.Errorf("the user's own: %q", got)
	}
}

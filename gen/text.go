package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// maxFile is more bytes than any file that is read here has.
const maxFile = 16 << 20

// readFile returns the file called name in fsys, which the user knows as the
// directory dir. It has to be a regular one: opening a pipe would wait for a
// writer, and a device may never end. The error says what to do and is
// fs.ErrNotExist when nothing is there.
func readFile(fsys fs.FS, dir, name string) ([]byte, error) {
	file := path.Join(dir, name)
	info, err := fs.Stat(fsys, name)
	if err != nil {
		if blocked := blockedBy(fsys, name); blocked != nil {
			return nil, blocked
		}
		return nil, unreadable(file, err)
	}
	return readRegular(fsys, name, file, info)
}

// readRegular is readFile for what is known of a file already; file is what a
// person calls it.
func readRegular(fsys fs.FS, name, file string, info fs.FileInfo) ([]byte, error) {
	switch {
	case !info.Mode().IsRegular():
		return nil, problem.Input("put a file there", "%q is %s", file, host.FileKind(info.Mode()))
	case info.Size() > maxFile:
		return nil, problem.Input("no file of a project is that large", "%q has more than %d MB", file, maxFile>>20)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return data, nil
}

// readText is readFile for UTF-8 text. The error is Problems when the bytes are
// no such text.
func readText(fsys fs.FS, name string) (string, error) {
	data, err := readFile(fsys, "", name)
	if err != nil {
		return "", err
	}
	return decodeText(name, data)
}

// blockedBy returns what is wrong with the path name: a directory that is none
// or a link that leads nowhere. It is nil where the rest is only missing.
func blockedBy(fsys fs.FS, name string) error {
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := fs.Lstat(fsys, name[:i])
		if err != nil {
			return nil
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if info, err = fs.Stat(fsys, name[:i]); err != nil {
				return problem.Input("put what it stands for in its place", "%q is a link that leads nowhere or out of the project", name[:i])
			}
		}
		if i < len(name) && !info.IsDir() {
			return problem.Input("move it away and run the command again", "%q is %s where a directory belongs", name[:i], host.FileKind(info.Mode()))
		}
	}
	return nil
}

// unreadable puts into words why name cannot be read.
func unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return problem.AsInput(missing(name))
	}
	return problem.Input("", "%q cannot be read: %w", name, Cause(err))
}

// missing is the path of a file that is not there.
type missing string

func (m missing) Error() string      { return fmt.Sprintf("there is no file %q", string(m)) }
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// Cause returns err without the call and the paths that the standard library
// puts before it.
func Cause(err error) error {
	for {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		} else if l, ok := errors.AsType[*os.LinkError](err); ok {
			err = l.Err
		} else {
			return err
		}
	}
}

// decodeText returns data as text, without the byte order mark and the carriage
// returns of editors on Windows. The error is Problems with the first byte that
// is not UTF-8 or is NUL. UTF-16 is not shown, since it has no lines for us.
func decodeText(file string, data []byte) (string, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	refuse := func(at int, message string) (string, error) {
		p := place(file, text, at, message+": save it as UTF-8")
		p.Source = strings.ToValidUTF8(p.Source, "\ufffd")
		return "", Problems{p}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return "", Problems{{File: file, Line: 1, Column: 1, Message: "the file is UTF-16 text: save it as UTF-8"}}
	}
	for at, r := range text {
		switch {
		case r == 0:
			return refuse(at, "the file is not text, a NUL byte stands here")
		case r == utf8.RuneError && !strings.HasPrefix(text[at:], "\ufffd"):
			return refuse(at, "the file is not UTF-8 text from here on")
		}
	}
	return text, nil
}

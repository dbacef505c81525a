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
		if link, e := fs.Lstat(fsys, name); e == nil && link.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a link that leads nowhere or out of the project: put the file itself there", file)
		}
		if obstacle := inTheWay(fsys, name); obstacle != nil {
			return nil, obstacle
		}
		return nil, unreadable(file, err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is %s: put a file there", file, host.FileKind(info.Mode()))
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has more than %d MB: no file of a project is that large", file, maxFile>>20)
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

// inTheWay returns a sentence about the first of the directories above name
// that is none, nil when they are all right or are not there.
func inTheWay(fsys fs.FS, name string) error {
	for i, r := range name {
		if r != '/' {
			continue
		}
		dir := name[:i]
		info, err := fs.Lstat(fsys, dir)
		switch {
		case err != nil:
			return nil
		case info.Mode()&fs.ModeSymlink != 0:
			if to, err := fs.Stat(fsys, dir); err != nil || !to.IsDir() {
				return fmt.Errorf("%s is a link that leads nowhere or out of the project: put a directory there and run the command again", dir)
			}
		case !info.IsDir():
			return fmt.Errorf("%s is %s where a directory belongs: move it away and run the command again", dir, host.FileKind(info.Mode()))
		}
	}
	return nil
}

// unreadable puts into words why name cannot be read.
func unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return missing(name)
	}
	return fmt.Errorf("%s cannot be read: %w", name, Cause(err))
}

// missing is the path of a file that is not there.
type missing string

func (m missing) Error() string      { return "there is no file " + string(m) }
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
// is not UTF-8 or is NUL; it does not show the line, which is not for reading.
func decodeText(file string, data []byte) (string, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	refuse := func(at int, message string) (string, error) {
		p := place(file, text, at, message+": save it as UTF-8")
		p.Source = ""
		return "", Problems{p}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return refuse(0, "the file is UTF-16 text")
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

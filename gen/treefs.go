package gen

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"time"
)

// treeFS is a tree as the project it will be once it is written.
type treeFS struct {
	entries map[string]treeEntry     // files and directories, by path
	lists   map[string][]fs.DirEntry // what is in a directory
}

func (t tree) fs() treeFS {
	f := treeFS{map[string]treeEntry{".": {name: ".", mode: fs.ModeDir | 0o755}}, map[string][]fs.DirEntry{}}
	for _, p := range t.paths() {
		f.add(p, treeEntry{path.Base(p), t[p].Mode, t[p].Data})
	}
	return f
}

// add adds an entry and the directories on the way to it. Entries come sorted.
func (f treeFS) add(p string, e treeEntry) {
	dir := path.Dir(p)
	if _, ok := f.entries[dir]; !ok {
		f.add(dir, treeEntry{name: path.Base(dir), mode: fs.ModeDir | 0o755})
	}
	f.entries[p] = e
	f.lists[dir] = append(f.lists[dir], e)
}

func (f treeFS) Open(name string) (fs.File, error) {
	e, ok := f.entries[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openEntry{treeEntry: e, Reader: bytes.NewReader(e.data), rest: f.lists[name]}, nil
}

// treeEntry is a file or a directory.
type treeEntry struct {
	name string
	mode fs.FileMode
	data []byte
}

func (e treeEntry) Name() string               { return e.name }
func (e treeEntry) Size() int64                { return int64(len(e.data)) }
func (e treeEntry) Mode() fs.FileMode          { return e.mode }
func (e treeEntry) Type() fs.FileMode          { return e.mode.Type() }
func (e treeEntry) ModTime() time.Time         { return time.Time{} }
func (e treeEntry) IsDir() bool                { return e.mode.IsDir() }
func (e treeEntry) Sys() any                   { return nil }
func (e treeEntry) Info() (fs.FileInfo, error) { return e, nil }

type openEntry struct {
	treeEntry
	*bytes.Reader
	rest []fs.DirEntry
}

func (o *openEntry) Stat() (fs.FileInfo, error) { return o.treeEntry, nil }
func (o *openEntry) Size() int64                { return o.treeEntry.Size() }
func (o *openEntry) Close() error               { return nil }

func (o *openEntry) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(o.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(o.rest) {
		n = len(o.rest)
	}
	out := o.rest[:n]
	o.rest = o.rest[n:]
	return out, nil
}

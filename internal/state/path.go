package state

import "path/filepath"

// RealPath returns path without links and without what Clean removes; where
// there is nothing at path, only the latter.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Resolve returns path without links, also where only its parents exist.
func Resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(Resolve(up), filepath.Base(path))
}

// Below returns path as seen from dir, and whether it is dir or inside it.
// Neither is looked at on disk.
func Below(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// Within reports whether path is below dir. Neither need exist, and links are
// taken for what they are.
func Within(dir, path string) bool {
	rel, ok := Below(dir, path)
	return ok && rel != "."
}

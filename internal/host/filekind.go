package host

import "io/fs"

// FileKind returns what people call a file of that mode, with its article.
func FileKind(mode fs.FileMode) string {
	switch t := mode.Type(); {
	case t == 0:
		return "a file"
	case t&fs.ModeDir != 0:
		return "a directory"
	case t&fs.ModeSymlink != 0:
		return "a link"
	case t&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case t&fs.ModeSocket != 0:
		return "a socket"
	case t&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

package proc

import (
	"os"
	"syscall"
)

// WriteProgram writes a program that this process is to start, mode 0755. No child
// is begun meanwhile: one that got the open file would keep the system from
// starting it, "text file busy" (go.dev/issue/22315).
func WriteProgram(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o755)
}

package notify

import (
	"os/exec"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/proc"
)

// Open has the desktop show a page in the browser, and does not wait for it. False
// means that there is no desktop here, or nothing that opens pages on it.
func (d Desktop) Open(page string) (bool, error) {
	cmd := d.opener(page)
	if cmd == nil {
		return false, nil
	}
	cmd.Env = d.Environ
	_, err := proc.Start(cmd)
	return err == nil, err
}

func (d Desktop) opener(page string) *exec.Cmd {
	var args []string
	switch {
	case d.OS == "darwin" && !d.has("SSH_CONNECTION"):
		args = []string{"open", page}
	case d.OS == "windows" && !d.has("SSH_CONNECTION"):
		args = []string{"rundll32", "url.dll,FileProtocolHandler", page}
	case d.OS != "darwin" && d.OS != "windows" && (d.has("DISPLAY") || d.has("WAYLAND_DISPLAY")):
		args = []string{"xdg-open", page}
	default:
		return nil
	}
	path, err := d.LookPath(args[0])
	if err != nil {
		return nil
	}
	return exec.Command(path, args[1:]...)
}

// has reports whether a variable is set to anything.
func (d Desktop) has(name string) bool {
	return slices.ContainsFunc(d.Environ, func(kv string) bool {
		value, ok := strings.CutPrefix(kv, name+"=")
		return ok && value != ""
	})
}

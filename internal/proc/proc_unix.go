//go:build unix

package proc

import (
	"errors"
	"os/exec"
	"syscall"
)

func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// signalTree signals the group that pid leads and, since a child may have
// left that group, every process below it. What is gone already is no error.
func signalTree(pid int, sig syscall.Signal) error {
	below := descendants(pid)
	err := errors.Join(ignoreGone(syscall.Kill(-pid, sig)), ignoreGone(syscall.Kill(pid, sig)))
	for _, d := range below {
		if _, same := d.current(); same {
			err = errors.Join(err, ignoreGone(syscall.Kill(d.PID, sig)))
		}
	}
	return err
}

func interruptTree(pid int) error { return signalTree(pid, syscall.SIGINT) }

// terminate asks the process and what has stayed in its group to end.
func terminate(pid int) error {
	return errors.Join(ignoreGone(syscall.Kill(-pid, syscall.SIGTERM)), ignoreGone(syscall.Kill(pid, syscall.SIGTERM)))
}

func killTree(pid int) error { return signalTree(pid, syscall.SIGKILL) }
func killOne(pid int) error  { return ignoreGone(syscall.Kill(pid, syscall.SIGKILL)) }

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

package proc

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Process states of sys/proc.h.
const (
	stateStopped = 4
	stateZombie  = 5
)

func stat(pid int) (status, error) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return status{}, ErrGone
	}
	return read(p), nil
}

func read(p *unix.KinfoProc) status {
	t := p.Proc.P_starttime
	return status{
		start:   uint64(t.Sec)*1e6 + uint64(t.Usec),
		ppid:    int(p.Eproc.Ppid),
		stopped: p.Proc.P_stat == stateStopped,
		ended:   p.Proc.P_stat == stateZombie,
	}
}

var bootID = sync.OnceValues(func() (string, error) { return unix.Sysctl("kern.bootsessionuuid") })

func processes() (map[int]status, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make(map[int]status, len(list))
	for i := range list {
		all[int(list[i].Proc.P_pid)] = read(&list[i])
	}
	return all, nil
}

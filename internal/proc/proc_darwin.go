package proc

import (
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

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

// cpuOf returns the processor time of each process, of those still there. The
// kernel's table does not have it here; ps may ask.
func cpuOf(ids []ID) []time.Duration {
	var pids []string
	for _, id := range ids {
		if _, same := id.current(); same {
			pids = append(pids, strconv.Itoa(id.PID))
		}
	}
	if len(pids) == 0 {
		return nil
	}
	out, err := exec.Command("/bin/ps", "-o", "time=", "-p", strings.Join(pids, ",")).Output()
	if err != nil && len(out) == 0 {
		return nil
	}
	var times []time.Duration
	for line := range strings.Lines(string(out)) {
		times = append(times, parsePSTime(strings.TrimSpace(line)))
	}
	return times
}

// arguments returns the command line of a process, nil for one that we may not ask.
func arguments(pid int) []string {
	data, _ := unix.SysctlRaw("kern.procargs2", pid)
	args, _ := parseProcArgs(data)
	return args
}

// environment returns the variables a process was started with, nil for one that
// we may not ask, such as a program of the system.
func environment(pid int) []string {
	data, _ := unix.SysctlRaw("kern.procargs2", pid)
	_, env := parseProcArgs(data)
	return env
}

package proc

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const look = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE

func alive(pid int) bool {
	h, err := windows.OpenProcess(look, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	return unfinished(h)
}

// unfinished reports whether the process behind h has not ended; a handle
// that somebody still holds keeps an ended one in the table.
func unfinished(h windows.Handle) bool {
	e, err := windows.WaitForSingleObject(h, 0)
	return err == nil && e == uint32(windows.WAIT_TIMEOUT)
}

func stat(pid int) (status, error) {
	h, err := windows.OpenProcess(look, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return status{}, ErrGone
	}
	if err != nil {
		return status{}, err
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return status{}, err
	}
	return status{start: units(created), ended: !unfinished(h), cpu: time.Duration(units(kernel)+units(user)) * 100}, nil
}

// units returns a time in its 100 ns.
func units(t windows.Filetime) uint64 { return uint64(t.HighDateTime)<<32 | uint64(t.LowDateTime) }

// cpuOf returns the processor time of each process, of those still there.
func cpuOf(ids []ID) []time.Duration { return cpuByStat(ids) }

// arguments returns the command line of a process, nil for one that we may not ask.
func arguments(pid int) []string {
	h, err := windows.OpenProcess(look, false, uint32(pid))
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(h)
	var size uint32
	err = windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, nil, 0, &size)
	if size < uint32(unsafe.Sizeof(windows.NTUnicodeString{})) {
		return nil
	}
	// The string's header comes first, so the memory has to be aligned for it.
	buf := make([]uintptr, (size+7)/8+1)
	err = windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]), size, &size)
	if err != nil {
		return nil
	}
	args, err := windows.DecomposeCommandLine((*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String())
	if err != nil {
		return nil
	}
	return args
}

// environment has no way to ask for another process's variables.
func environment(int) []string { return nil }

// bootID is empty: creation times are absolute here.
func bootID() (string, error) { return "", nil }

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS, HideWindow: true}
}

// interruptTree has nothing to ask with: a process without a console cannot be
// sent a break.
func interruptTree(int) error { return errors.ErrUnsupported }

// terminate has nothing to ask with either.
func terminate(int) error { return errors.ErrUnsupported }

func killTree(pid int) error {
	below := descendants(pid)
	err := killOne(pid)
	for _, d := range below {
		if _, same := d.current(); same {
			err = errors.Join(err, killOne(d.PID))
		}
	}
	return err
}

func killOne(pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return nil
	}
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.TerminateProcess(h, 1)
}

// processes lists all processes. A parent's id outlives the parent and may
// belong to a younger process by now, so a child older than its parent is
// given none.
func processes() (map[int]status, error) {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(snap)
	all := map[int]status{}
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &entry); err == nil; err = windows.Process32Next(snap, &entry) {
		s, err := stat(int(entry.ProcessID))
		if err != nil {
			continue
		}
		s.ppid = int(entry.ParentProcessID)
		all[int(entry.ProcessID)] = s
	}
	for pid, s := range all {
		if parent, ok := all[s.ppid]; ok && parent.start > s.start {
			s.ppid = 0
			all[pid] = s
		}
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		err = nil
	}
	return all, err
}

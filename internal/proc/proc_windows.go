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
	var args []string
	readParameters(pid, func(h windows.Handle, p *windows.RTL_USER_PROCESS_PARAMETERS) {
		line := make([]uint16, p.CommandLine.Length/2)
		if readMemory(h, uintptr(unsafe.Pointer(p.CommandLine.Buffer)), line) {
			args, _ = windows.DecomposeCommandLine(windows.UTF16ToString(line))
		}
	})
	return args
}

// maxBlock is the most that is read of the variables of a process, in characters.
const maxBlock = 1 << 20

// environment returns the variables of a process, nil for one that we may not ask.
func environment(pid int) []string {
	var env []string
	readParameters(pid, func(h windows.Handle, p *windows.RTL_USER_PROCESS_PARAMETERS) {
		block := make([]uint16, min(p.EnvironmentSize/2, maxBlock))
		if !readMemory(h, uintptr(p.Environment), block) {
			return
		}
		for len(block) > 0 && block[0] != 0 {
			v := windows.UTF16ToString(block)
			env = append(env, v)
			end := 0
			for end < len(block) && block[end] != 0 {
				end++
			}
			block = block[min(end+1, len(block)):]
		}
	})
	return env
}

// readParameters calls use with what a process was started with. Its pointers are
// addresses in that process.
func readParameters(pid int, use func(windows.Handle, *windows.RTL_USER_PROCESS_PARAMETERS)) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, uint32(pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	var info windows.PROCESS_BASIC_INFORMATION
	if err := windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation, unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil); err != nil {
		return
	}
	peb, params := make([]windows.PEB, 1), make([]windows.RTL_USER_PROCESS_PARAMETERS, 1)
	if !readMemory(h, uintptr(unsafe.Pointer(info.PebBaseAddress)), peb) ||
		!readMemory(h, uintptr(unsafe.Pointer(peb[0].ProcessParameters)), params) {
		return
	}
	use(h, &params[0])
}

// readMemory fills to from an address in the process, and reports whether all of it
// was there.
func readMemory[T any](h windows.Handle, address uintptr, to []T) bool {
	if len(to) == 0 || address == 0 {
		return false
	}
	size := uintptr(len(to)) * unsafe.Sizeof(to[0])
	var got uintptr
	err := windows.ReadProcessMemory(h, address, (*byte)(unsafe.Pointer(&to[0])), size, &got)
	return err == nil && got == size
}

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

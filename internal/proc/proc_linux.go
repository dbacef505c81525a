package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stat reads /proc/PID/stat (proc(5)).
func stat(pid int) (status, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return status{}, ErrGone
	case err != nil:
		return status{}, err
	}
	return parseStat(string(data))
}

// parseStat reads state, parent and start time. The second field is the
// program's name in parentheses, which may itself hold spaces and
// parentheses, so fields are counted from the last closing one.
func parseStat(line string) (status, error) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	const state, ppid, utime, cstime, starttime = 0, 1, 11, 14, 19
	if len(fields) <= starttime {
		return status{}, fmt.Errorf("process status %q has too few fields", line)
	}
	parent, err := strconv.Atoi(fields[ppid])
	if err != nil {
		return status{}, err
	}
	start, err := strconv.ParseUint(fields[starttime], 10, 64)
	if err != nil {
		return status{}, err
	}
	var ticks uint64
	for _, f := range fields[utime : cstime+1] {
		n, _ := strconv.ParseUint(f, 10, 64)
		ticks += n
	}
	return status{
		start:   start,
		ppid:    parent,
		stopped: strings.Contains("Tt", fields[state]),
		ended:   strings.Contains("ZXx", fields[state]),
		cpu:     time.Duration(ticks) * tick,
	}, nil
}

// tick is the unit of times in /proc: USER_HZ is 100 on every Linux.
const tick = time.Second / 100

// cpuOf returns the processor time of each process, of those still there.
func cpuOf(ids []ID) []time.Duration { return cpuByStat(ids) }

// arguments returns the command line of a process, nil for one that we may not ask.
func arguments(pid int) []string { return nulls(pid, "cmdline") }

// environment returns the variables a process was started with, nil for one that
// we may not ask.
func environment(pid int) []string { return nulls(pid, "environ") }

// nulls reads a file of /proc/PID in which every string ends with a zero byte.
func nulls(pid int, name string) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// boot is what bootID has read.
var boot struct {
	once sync.Once
	id   string
	err  error
}

// bootID returns the name of the time since this machine was started.
func bootID() (string, error) {
	boot.once.Do(func() {
		var data []byte
		data, boot.err = os.ReadFile("/proc/sys/kernel/random/boot_id")
		boot.id = strings.TrimSpace(string(data))
	})
	return boot.id, boot.err
}

func processes() (map[int]status, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := make(map[int]status, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, err := stat(pid); err == nil {
			all[pid] = s
		}
	}
	return all, nil
}

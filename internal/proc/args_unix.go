//go:build unix

package proc

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// parseProcArgs reads what macOS has of a process's start: the number of its
// arguments, the program's path, padding, the arguments and the variables.
func parseProcArgs(data []byte) (args, env []string) {
	if len(data) < 4 {
		return nil, nil
	}
	argc := int(binary.NativeEndian.Uint32(data))
	_, rest, ok := strings.Cut(string(data[4:]), "\x00")
	if !ok {
		return nil, nil
	}
	all := strings.Split(strings.TrimLeft(rest, "\x00"), "\x00")
	if argc < 0 || argc > len(all) {
		return nil, nil
	}
	for _, v := range all[argc:] {
		if v == "" { // what follows belongs to the system
			break
		}
		env = append(env, v)
	}
	return all[:argc], env
}

// parsePSTime reads the processor time that ps prints, such as 12:03.45: minutes
// and seconds, with hours before them where there are some; 0 for anything else.
func parsePSTime(s string) time.Duration {
	seconds := 0.0
	for part := range strings.SplitSeq(s, ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 0 {
			return 0
		}
		seconds = 60*seconds + n
	}
	return time.Duration(seconds * float64(time.Second))
}

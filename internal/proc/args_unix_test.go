//go:build unix

package proc

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"
)

func TestParseProcArgs(t *testing.T) {
	t.Parallel()
	count := func(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }
	args, env := parseProcArgs(append(count(3), "/bin/a\x00\x00\x00a\x00--x\x00\x00A=1\x00B=\x00\x00\x00stack_guard=1\x00"...))
	if !slices.Equal(args, []string{"a", "--x", ""}) || !slices.Equal(env, []string{"A=1", "B="}) {
		t.Errorf("%q, %q", args, env)
	}
	for _, data := range [][]byte{nil, count(1), append(count(9), "/bin/a\x00a\x00"...), append(count(1<<31), "a\x00b\x00"...)} {
		if args, env := parseProcArgs(data); args != nil || env != nil {
			t.Errorf("%q: %q, %q", data, args, env)
		}
	}
}

func TestParsePSTime(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"0:01.25":   1250 * time.Millisecond,
		"123:45.00": 123*time.Minute + 45*time.Second,
		"1:00:02":   time.Hour + 2*time.Second,
		"":          0, "x": 0, "-1:00": 0, "1:x": 0,
	} {
		if got := parsePSTime(s); got != want {
			t.Errorf("%q is %v, want %v", s, got, want)
		}
	}
}

package usage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
)

// On a full disk everything is counted, and what was kept before stays right.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting takes root")
	}
	t.Parallel()
	w := newWorld(t)
	w.dir = t.TempDir()
	if err := syscall.Mount("none", w.dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip(err)
	}
	defer syscall.Unmount(w.dir, 0)
	h := history{rand.New(rand.NewPCG(6, 6))}
	for range 100 {
		log, session := h.log()
		w.append(log, h.row(session))
	}
	x, _ := w.update()
	w.counts("before", x)
	var b strings.Builder
	for n := range 20_000 {
		b.WriteString(reply("2026-11-30T10:00:00.000Z", fmt.Sprint("x", n), "r", "s1", "", `"input_tokens":1`))
	}
	w.append("-w-one/s1.jsonl", b.String())
	for range 2 {
		x := w.index()
		if report, err := x.Update(); err != nil || report.NotKept == nil {
			t.Fatalf("%v, %v", err, report.NotKept)
		}
		w.counts("on a full disk", x)
	}
	if err := syscall.Mount("none", w.dir, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
		t.Skip(err)
	}
	x, _ = w.update()
	w.counts("after", x)
}

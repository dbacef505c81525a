package transcript

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// splitAll is what both readers have to agree with. A line that is too long
// is nil.
func splitAll(s string) [][]byte {
	var want [][]byte
	for line := range bytes.SplitSeq([]byte(s), []byte("\n")) {
		if len(line) > maxLine {
			line = nil
		}
		want = append(want, line)
	}
	return want
}

func readBackwards(t *testing.T, s string) [][]byte {
	t.Helper()
	b := newBackwards(strings.NewReader(s), int64(len(s)))
	var got [][]byte
	for {
		line, ok := b.next()
		if !ok {
			break
		}
		got = append(got, bytes.Clone(line))
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	if len(b.buf) > 2*(maxLine+lastBlock) {
		t.Errorf("the buffer has grown to %d bytes", len(b.buf))
	}
	slices.Reverse(got)
	return got
}

func readForwards(t *testing.T, f *forwards) [][]byte {
	t.Helper()
	var got [][]byte
	for {
		line, ok := f.next()
		if !ok {
			break
		}
		got = append(got, bytes.Clone(line))
	}
	if f.err != nil {
		t.Fatal(f.err)
	}
	if len(f.buf) > 4*maxLine {
		t.Errorf("the buffer has grown to %d bytes", len(f.buf))
	}
	return got
}

func TestLinesInBothDirections(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, s := range map[string]string{
		"empty":                  "",
		"one":                    "a",
		"one, ended":             "a\n",
		"empty lines":            "\n\n\n",
		"no end":                 "a\nb\nc",
		"only \\n ends a line":   "a\r\nb\u2028c\u0085d\x00\ve\n",
		"borders of blocks":      strings.Repeat(x(firstBlock-1)+"\n", 9) + x(firstBlock) + "\n" + x(firstBlock+1),
		"longest":                "a\n" + x(maxLine) + "\nb",
		"too long":               "a\n" + x(maxLine+1) + "\nb",
		"much too long":          "a\n" + x(5<<20) + "\n" + x(3<<20) + "\nb\n",
		"too long at the end":    "a\n" + x(3<<20),
		"too long at the start":  x(3<<20) + "\na",
		"nothing but too long":   x(3 << 20),
		"short and long in turn": strings.Repeat("ab\n"+x(lastBlock)+"\n", 8),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := splitAll(s)
			equal := func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) || len(a)+len(b) == 0 }
			if got := readBackwards(t, s); !slices.EqualFunc(got, want, equal) {
				t.Errorf("backwards: %d lines, want %d", len(got), len(want))
			}
			// Forwards, the end of the last line begins no further one.
			if last := len(want) - 1; len(want[last]) == 0 && !strings.HasSuffix(s, strings.Repeat("x", maxLine+1)) {
				want = want[:last]
			}
			if got := readForwards(t, newForwards(strings.NewReader(s))); !slices.EqualFunc(got, want, equal) {
				t.Errorf("forwards: %d lines, want %d", len(got), len(want))
			}
			if len(s) < 1<<20 {
				if got := readForwards(t, newForwards(iotest.HalfReader(strings.NewReader(s)))); !slices.EqualFunc(got, want, equal) {
					t.Errorf("forwards in halves: %d lines, want %d", len(got), len(want))
				}
			}
		})
	}
}

func TestAFailingDiskIsTold(t *testing.T) {
	t.Parallel()
	if _, err := readFacts(iotest.ErrReader(iotest.ErrTimeout), farAway); err != iotest.ErrTimeout {
		t.Errorf("err = %v", err)
	}
}

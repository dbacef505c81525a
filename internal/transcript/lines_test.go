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
	b := newBackwards(strings.NewReader(s), int64(len(s)), func([]byte) bool { return false })
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
	if len(b.buf) > lastBlock || len(b.row) > maxLine {
		t.Errorf("the buffers have grown to %d and %d bytes", len(b.buf), len(b.row))
	}
	slices.Reverse(got)
	return got
}

// A row that lies within a block is there anyway. A longer one is shown by its
// first bytes, and not read if they are enough.
func TestBackwardsSkips(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", firstBlock)
	for _, size := range []int{10, headSize - 1, headSize, firstBlock - 3, firstBlock, 3 * firstBlock} {
		s := "first\n" + "s" + strings.Repeat("x", size) + long + "\nk" + long + "\n" + strings.Repeat("y", size)
		asked := 0
		b := newBackwards(strings.NewReader(s), int64(len(s)), func(head []byte) bool {
			asked++
			if len(head) != headSize && string(head) != "first" {
				t.Errorf("the head has %d bytes", len(head))
			}
			return head[0] == 's'
		})
		var got []int
		for {
			line, ok := b.next()
			if !ok {
				break
			}
			got = append(got, len(line))
		}
		if want := []int{size, 1 + len(long), 0, len("first")}; !slices.Equal(got, want) || b.err != nil {
			t.Errorf("%d: got %d, %v, want %d", size, got, b.err, want)
		}
		if asked < 2 {
			t.Errorf("%d: asked %d times", size, asked)
		}
	}
}

func TestNoMessage(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		`{"parentUuid":"a","isSidechain":false,"attachment":{"type":"x"`:         true,
		`{"parentUuid":null,"isSidechain":false,"message":{"model":"m","attac`:   false,
		`{"parentUuid":"\"attachment\":{","isSidechain":false,"message":{`:       false,
		`{"type":"api-request-blob","sessionId":"s","message":{"content":"`:      true,
		`{"type":"assistant","attachment":{`:                                     false,
		`{"type":"user","message":{"attachment":`:                                false,
		`{"type":"system","subtype":"compact_boundary"`:                          false,
		`{"parentUuid":"a","toolUseResult":{"attachment":1},"type":"mode","x":"`: true,
		`{"type":"att`:  false,
		`{"type"`:       false,
		`{`:             false,
		``:              false,
		`x"attachment"`: false,
	} {
		if got := noMessage([]byte(head)); got != want {
			t.Errorf("%s: got %v", head, got)
		}
	}
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
		})
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, iotest.ErrTimeout }

func TestAFailingDiskIsTold(t *testing.T) {
	t.Parallel()
	if _, err := readFacts(failing{}, 100, farAway); err != iotest.ErrTimeout {
		t.Errorf("err = %v", err)
	}
}

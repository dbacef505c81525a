package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSumIsSHA256(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 64 << 10, 64<<10 + 1, 200_003} {
		data := bytes.Repeat([]byte("ccreload\x00\xff"), n/10+1)[:n]
		if got, err := sumOf(bytes.NewReader(data)); err != nil || got != sha256.Sum256(data) {
			t.Errorf("%d bytes: %x, %v", n, got, err)
		}
		if got, err := sumOf(iotest.HalfReader(bytes.NewReader(data))); err != nil || got != sha256.Sum256(data) {
			t.Errorf("%d bytes in halves: %x, %v", n, got, err)
		}
	}
	broken := errors.New("broken")
	if _, err := sumOf(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
}

func FuzzSum(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 130)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := sumOf(bytes.NewReader(data)); err != nil || got != sha256.Sum256(data) {
			t.Fatalf("%x, %v", got, err)
		}
	})
}

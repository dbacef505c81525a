package term

import (
	"bytes"
	"testing"
)

func TestScreen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := Screen{W: &out}
	s.Close()
	s.Show([]string{"a", "b"})
	s.Show([]string{"c"})
	s.Close()
	s.Close()
	want := "\x1b[?1049h\x1b[?25l" +
		"\x1b[?2026h\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J\x1b[?2026l" +
		"\x1b[?2026h\x1b[Hc\x1b[K\x1b[J\x1b[?2026l" +
		"\x1b[?25h\x1b[?1049l"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestGauge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		percent float64
		want    string
	}{{-1, "[....]"}, {0, "[....]"}, {1, "[#...]"}, {50, "[##..]"}, {99.9, "[###.]"}, {100, "[####]"}, {250, "[####]"}} {
		if got := Gauge(tt.percent, 6); got != tt.want {
			t.Errorf("%v %%: %s, want %s", tt.percent, got, tt.want)
		}
	}
}

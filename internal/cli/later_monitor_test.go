package cli

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/later/dispatch"
)

// The monitor looks at each tick and draws anew in between when the size changes.
func TestLookerLooksAtEachTick(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	ticks, resized, drawn := make(chan time.Time), make(chan os.Signal), make(chan dispatch.View)
	looks, told := 0, 0
	l := looker{
		look: func(context.Context) (dispatch.View, error) {
			looks++
			return dispatch.View{Week: float64(looks)}, nil
		},
		show:  func(v dispatch.View) { drawn <- v },
		tell:  func(dispatch.View) { told++ },
		ticks: ticks, resized: resized,
	}
	done := make(chan error)
	go func() { done <- l.run(ctx) }()
	want := func(week float64) {
		t.Helper()
		if v := <-drawn; v.Week != week {
			t.Errorf("drawn: look %v, want %v", v.Week, week)
		}
	}
	want(1)
	resized <- os.Interrupt
	want(1)
	ticks <- time.Time{}
	want(2)
	resized <- os.Interrupt
	want(2)
	stop()
	if err := <-done; err != nil || looks != 2 || told != 2 {
		t.Errorf("%v, %d looks, told %d times", err, looks, told)
	}
}

func TestLookerEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	l := looker{look: func(context.Context) (dispatch.View, error) { return dispatch.View{}, broken }}
	if err := l.run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("a look that fails: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := l.run(ctx); err != nil {
		t.Errorf("^C during a look: %v", err)
	}
}

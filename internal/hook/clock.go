package hook

import (
	"sync"
	"time"
)

// clock ends a hook that takes too long. It counts from the beginning of the
// run, and rings only once it has been started.
type clock struct {
	began time.Time
	now   func() time.Time
	limit time.Duration
	ring  func() // on a goroutine of its own

	mu    sync.Mutex
	timer *time.Timer
	rang  bool
}

// left is how much time the run has.
func (c *clock) left() time.Duration { return c.limit - c.now().Sub(c.began) }

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.timer = time.AfterFunc(c.left(), func() {
			c.mu.Lock()
			c.rang = true
			c.mu.Unlock()
			c.ring()
		})
	}
}

// late reports whether the clock has rung.
func (c *clock) late() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rang
}

// stop reports whether the clock has not rung, and never will.
func (c *clock) stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timer == nil || c.timer.Stop()
}

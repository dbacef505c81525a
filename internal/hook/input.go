package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	// maxPayload is the most of stdin that is read, in bytes. A larger payload
	// is drained, so that the host's write does not fail, and not answered.
	maxPayload = 8 << 20
	// usualPayload is enough for nearly all of them, in bytes.
	usualPayload = 8 << 10
)

var errNoEnd = errors.New("stdin: the payload does not end")

// input reads the payload. A host that does not finish it must not hold the
// session: where the system can tell whether a read would wait, it is asked,
// else the clock is started.
func (r Run) input(c *clock) ([]byte, error) {
	file, ok := r.Stdin.(*os.File)
	if !ok || !canWait {
		c.start()
	}
	data := make([]byte, 0, usualPayload)
	for {
		if ok && canWait && !waitReadable(file, c.left()) {
			return nil, errNoEnd
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := r.Stdin.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("stdin: %w", err)
		case len(data) > maxPayload:
			c.start()
			io.Copy(io.Discard, r.Stdin)
			return nil, fmt.Errorf("payload has more than %d bytes", maxPayload)
		}
	}
}

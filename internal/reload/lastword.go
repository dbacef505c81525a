package reload

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// A session that was killed, or left, without a digest still has its transcript.
// Each session is noted when it starts, so that the end of a turn has nothing to
// write; the next one to start says once what was left, and only a person who asks
// for it is given a digest made of it.

// openFile has a line for each session that was started and not followed by
// another one in the same client.
const openFile = ".sessions"

// maxOpen is how many are remembered.
const maxOpen = 8

// opened is a session that was started.
type opened struct {
	id         string // as sessionKey has it
	client     handover.Client
	began      time.Time
	told       bool // somebody was told that it left no digest
	transcript string
}

func (o opened) String() string {
	told := "-"
	if o.told {
		told = "told"
	}
	client := o.client.String()
	if client == "" {
		client = "-"
	}
	return strings.Join([]string{strconv.FormatInt(o.began.UnixMilli(), 10), client, told, o.transcript}, " ")
}

// readOpened returns the sessions in the order in which they were noted.
func readOpened(from state.Reader) (list []opened) {
	p := state.ReadPairs(from, openFile)
	for _, id := range p.Keys() {
		f := strings.SplitN(p.Get(id), " ", 4)
		if len(f) < 4 || id != handover.FileName(id) {
			continue
		}
		ms, _ := strconv.ParseInt(f[0], 10, 64)
		list = append(list, opened{id, handover.ParseClient(f[1]), time.UnixMilli(ms), f[2] == "told", f[3]})
	}
	return list
}

func writeOpened(tx *state.Tx, list []opened) error {
	var p state.Pairs
	for _, o := range list[max(0, len(list)-maxOpen):] {
		p = p.Set(o.id, o.String())
	}
	return tx.Update(openFile, p.Bytes())
}

// begun returns list with the session of call, which starts, as its newest. What
// came before it in the same client was left on purpose. Of those that are over
// only last stays, which somebody is told of: "" for none.
func begun(list []opened, call *host.Call, last string) []opened {
	self := opened{
		id: sessionKey(call.Payload), client: handover.Here(call.Host),
		began: call.Env.Now(), transcript: call.Payload.TranscriptPath,
	}
	cleared := call.Payload.Source == "clear"
	var out []opened
	for i, o := range slices.Backward(list) {
		switch {
		case o.id == self.id:
			self.began = o.began
		case o.client.PID == 0 && cleared && self.client.PID == 0 && i == len(list)-1, o.client.Same(self.client) && cleared:
		case newContext(call.Payload.Source) && call.Payload.Source != "compact" && !cleared && o.client.PID != 0 && !o.client.Alive(call.Env) && o.id != last && !o.told,
			newContext(call.Payload.Source) && !cleared && o.told && last != "" && o.id != last:
		default:
			o.told = o.told || o.id == last
			out = append(out, o)
		}
	}
	slices.Reverse(out)
	if self.id == "" || self.transcript == "" {
		return out
	}
	return append(out, self)
}

package usage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/models"
)

// The rules once more, by somebody who knows only them: all logs are read whole
// with encoding/json, and every figure is summed from single replies.

type naiveUsage struct {
	Input     int64 `json:"input_tokens"`
	Output    int64 `json:"output_tokens"`
	CacheRead int64 `json:"cache_read_input_tokens"`
	Creation  int64 `json:"cache_creation_input_tokens"`
	Split     struct {
		M5 int64 `json:"ephemeral_5m_input_tokens"`
		H1 int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

type naiveRow struct {
	Type, RequestID, SessionID, UUID, Cwd, Timestamp string
	IsSidechain                                      bool
	IsApiErrorMessage                                bool
	Error                                            any
	ForkedFrom                                       *struct{ SessionID string }
	Message                                          struct {
		ID, Model string
		Usage     *struct {
			naiveUsage
			Tier       string `json:"service_tier"`
			Iterations []struct {
				Type, Model string
				naiveUsage
			}
		}
	}
}

// naiveReply is a reply, or what an advisor said within one.
type naiveReply struct {
	message, model, session, project string
	time                             time.Time
	copied, main, batch, advisor     bool
	used                             naiveUsage
	of                               *naiveReply // an advisor's
}

func (r *naiveReply) before(o *naiveReply) bool {
	rank := func(copied bool) int {
		if copied {
			return 1
		}
		return 0
	}
	return cmp.Or(r.time.Compare(o.time), cmp.Compare(rank(r.copied), rank(o.copied)), cmp.Compare(r.session, o.session), cmp.Compare(r.project, o.project)) < 0
}

func (u *naiveUsage) max(o naiveUsage) {
	u.Input, u.Output, u.CacheRead, u.Creation = max(u.Input, o.Input), max(u.Output, o.Output), max(u.CacheRead, o.CacheRead), max(u.Creation, o.Creation)
	u.Split.M5, u.Split.H1 = max(u.Split.M5, o.Split.M5), max(u.Split.H1, o.Split.H1)
}

// naiveReplies returns the replies in the logs below root that count.
func naiveReplies(t testing.TB, root string) []*naiveReply {
	t.Helper()
	known := map[string]*naiveReply{}
	var order []*naiveReply
	main := map[string]bool{}
	places := map[string]string{} // of projects, by the directories of their logs
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		dir, file, ok := strings.Cut(filepath.ToSlash(rel), "/")
		if !ok {
			dir, file = "", rel
		}
		stem, _, _ := strings.Cut(file, "/")
		for _, line := range strings.Split(string(data), "\n") {
			var row naiveRow
			if json.Unmarshal([]byte(strings.Trim(line, "\x00\r\ufeff")), &row) != nil || row.Type != "assistant" || row.Message.Usage == nil ||
				row.IsApiErrorMessage || row.Error != nil || row.Message.Model == "<synthetic>" {
				continue
			}
			when, err := time.Parse(time.RFC3339, row.Timestamp)
			id := row.Message.ID
			if id == "" && row.UUID != "" {
				id = "uuid " + row.UUID
			}
			if err != nil || id == "" {
				continue
			}
			session := cmp.Or(row.SessionID, strings.TrimSuffix(stem, ".jsonl"))
			if row.ForkedFrom != nil {
				session = row.ForkedFrom.SessionID
			}
			scope := "request " + row.RequestID
			if row.RequestID == "" {
				scope = "session " + session
			}
			if !row.IsSidechain {
				main[id] = true
			}
			if strings.Map(func(r rune) rune {
				if strings.ContainsRune("/. _", r) {
					return '-'
				}
				return r
			}, row.Cwd) == dir {
				places[dir] = row.Cwd
			}
			u := row.Message.Usage
			add := func(key, model string, used naiveUsage, of *naiveReply) *naiveReply {
				r := &naiveReply{message: id, model: model, session: session, project: dir, time: when, copied: row.ForkedFrom != nil, main: !row.IsSidechain, batch: u.Tier == "batch", advisor: of != nil, used: used, of: of}
				old := known[key]
				if old == nil {
					known[key] = r
					order = append(order, r)
					return r
				}
				if r.before(old) {
					old.time, old.session, old.project, old.copied, old.model = r.time, r.session, r.project, r.copied, r.model
				}
				old.main, old.batch = old.main || r.main, old.batch || r.batch
				old.used.max(used)
				return old
			}
			key := id + "\x00" + scope
			reply := add(key, row.Message.Model, u.naiveUsage, nil)
			n := 0
			for _, it := range u.Iterations {
				if it.Type == "advisor_message" {
					n++
					add(fmt.Sprint(key, "\x00", n), it.Model, it.naiveUsage, reply)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var replies []*naiveReply
	for _, r := range order {
		if of := r.of; of != nil { // an advisor's part is where and as the reply is
			r.time, r.session, r.project, r.main, r.batch = of.time, of.session, of.project, of.main, of.batch
		}
		if r.main || !main[r.message] {
			r.project = cmp.Or(places[r.project], r.project)
			replies = append(replies, r)
		}
	}
	return replies
}

// naiveStats sums replies.
func naiveStats(replies []*naiveReply, q Query) Stats {
	stats := Stats{By: map[string]Total{}}
	for _, r := range replies {
		day := r.time.In(q.Zone).Format("2006-01-02")
		if q.Days > 0 {
			y, m, d := q.Now.In(q.Zone).Date()
			if day < time.Date(y, m, d-q.Days+1, 0, 0, 0, 0, time.UTC).Format("2006-01-02") {
				continue
			}
		}
		m5, h1 := r.used.Split.M5, r.used.Split.H1
		m5 = max(m5, r.used.Creation-h1)
		t := Total{Input: r.used.Input, Output: r.used.Output, CacheRead: r.used.CacheRead, Write5m: m5, Write1h: h1}
		if !r.advisor {
			t.Replies = 1
		}
		if price, ok := q.Prices.Of(r.model, day); ok {
			rates := price.Rates
			if l := price.LongPrompt; l != nil && t.Input+t.CacheRead+m5+h1 > int64(l.Above) {
				rates = l.Rates
			}
			t.Cost = float64(t.Input)*rates.Input/1e6 + float64(t.Output)*rates.Output/1e6 + float64(t.CacheRead)*rates.CacheRead/1e6 +
				float64(m5)*rates.CacheWrite5m/1e6 + float64(h1)*rates.CacheWrite1h/1e6
			if r.batch {
				t.Cost *= 0.5
			}
			t.Priced = true
		} else {
			t.Unpriced = 1
		}
		key := map[By]string{ByDay: day, ByModel: models.Undated(r.model), ByProject: r.project, BySession: r.session}[q.By]
		key = cmp.Or(key, Unknown)
		stats.Total = plus(stats.Total, t)
		stats.By[key] = plus(stats.By[key], t)
	}
	return stats
}

func plus(a, b Total) Total {
	return Total{
		a.Replies + b.Replies, a.Input + b.Input, a.Output + b.Output, a.CacheRead + b.CacheRead, a.Write5m + b.Write5m, a.Write1h + b.Write1h,
		a.Cost + b.Cost, a.Priced || b.Priced, a.Unpriced + b.Unpriced,
	}
}

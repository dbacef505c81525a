package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	maxRow    = 8 << 20   // of one row, in bytes; a longer one is skipped
	maxText   = 1 << 20   // of what is kept of all results
	maxList   = 1000      // files, denials, and calls that wait for an answer
	maxStderr = 64 << 10  // of the end of the error output
	bufLen    = 256 << 10 // of one read
)

// reading is an outcome in the making.
type reading struct {
	Outcome
	at        time.Time // when the output was last written to
	began     bool      // there is a system row of the beginning
	hasResult bool
	last      result // the newest result

	errorRow    string // error of the newest row that is one
	apiErrorRow string
	errorText   string
	errorReset  time.Time
	rejected    bool // a window of the plan refused a request

	writing map[string]string // calls that write a file, until they have an answer
}

// result is what one result row says.
type result struct {
	isError                         bool
	subtype, reason, apiError, text string
	errors                          string
	status, turns                   int
}

// ReadOutcome reads what an agent that is over has left in its two files, of
// whatever length, in little memory. Files that are missing are empty.
func ReadOutcome(outPath, errPath string) (Outcome, error) {
	r := reading{writing: map[string]string{}}
	err := r.readFile(outPath)
	stderr, err2 := endOf(errPath)
	r.judge(stderr)
	return r.Outcome, errors.Join(err, err2)
}

func (r *reading) readFile(path string) error {
	f, err := openFile(path)
	if f == nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		r.at = info.ModTime()
	}
	return r.readRows(bufio.NewReaderSize(f, bufLen))
}

func (r *reading) readRows(in *bufio.Reader) error {
	var long []byte
	for {
		line, err := in.ReadSlice('\n')
		whole := line
		if err == bufio.ErrBufferFull || len(long) > 0 {
			if len(long) <= maxRow {
				long = append(long, line...)
			}
			if err == bufio.ErrBufferFull {
				continue
			}
			whole, long = long, long[:0]
		}
		r.row(whole)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// openFile opens a regular file; nothing without an error is one that is missing.
func openFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: state.ErrUnsafe}
	}
	return state.Open(path)
}

// endOf returns the end of the error output: a client that does not begin says why
// in its last lines.
func endOf(path string) (string, error) {
	f, err := openFile(path)
	if f == nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-maxStderr)
	data, err := io.ReadAll(io.NewSectionReader(f, from, maxStderr))
	return strings.TrimSpace(string(data)), err
}

// row takes one line of the output.
func (r *reading) row(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	kind := ""
	if len(line) > maxRow || !jsonscan.Object(line, func(key, value []byte) {
		if string(key) == "type" {
			kind = jsonscan.Plain(value)
		}
	}) {
		r.Skipped++
		return
	}
	r.Rows++
	switch kind {
	case "system":
		r.system(line)
	case "assistant":
		r.assistant(line)
	case "user":
		r.answers(jsonscan.Member(line, "message"))
	case "rate_limit_event":
		r.limit(jsonscan.Member(line, "rate_limit_info"))
	case "result":
		r.result(line)
	}
}

func (r *reading) system(line []byte) {
	if !jsonscan.Is(jsonscan.Member(line, "subtype"), "init") {
		return
	}
	r.began = true
	jsonscan.Object(line, func(key, value []byte) {
		switch string(key) {
		case "session_id":
			r.Session = jsonscan.Text(value)
		case "claude_code_version":
			r.Client = jsonscan.Text(value)
		case "model":
			r.Model = jsonscan.Text(value)
		case "permissionMode":
			r.PermissionMode = jsonscan.Text(value)
		case "apiKeySource":
			r.KeySource = jsonscan.Text(value)
		}
	})
}

func (r *reading) assistant(line []byte) {
	var message, params []byte
	var failure, apiError string
	sub := false // what a subagent says is for the agent
	jsonscan.Object(line, func(key, value []byte) {
		switch string(key) {
		case "message":
			message = value
		case "parent_tool_use_id":
			sub = string(value) != "null"
		case "error":
			failure = jsonscan.Text(value)
		case "api_error":
			apiError = jsonscan.Text(value)
		case "api_error_params":
			params = value
		}
	})
	blocks(message, func(b block) {
		switch {
		case b.kind == "text" && failure != "":
			r.errorText = b.text
		case b.kind == "text" && !sub && strings.TrimSpace(b.text) != "":
			r.LastText = b.text
		case b.kind == "tool_use" && len(r.writing) < maxList:
			if file := fileOf(b); file != "" {
				r.writing[b.id] = file
			}
		}
	})
	if failure == "" {
		return
	}
	r.errorRow, r.apiErrorRow = failure, apiError
	r.errorReset = unixTime(jsonscan.Member(jsonscan.Member(params, "rate_limit_info"), "resetsAt"))
}

// fileOf returns the file that a call is about to write, "" for another call.
func fileOf(b block) string {
	switch b.tool {
	case "Write", "Edit", "MultiEdit":
		return jsonscan.Text(jsonscan.Member(b.input, "file_path"))
	case "NotebookEdit":
		return jsonscan.Text(jsonscan.Member(b.input, "notebook_path"))
	}
	return ""
}

// answers takes the answers of tools. A call without one may have written.
func (r *reading) answers(message []byte) {
	blocks(message, func(b block) {
		file := r.writing[b.id]
		if b.kind != "tool_result" || file == "" {
			return
		}
		delete(r.writing, b.id)
		if !b.failed {
			r.wrote(file)
		}
	})
}

func (r *reading) wrote(file string) {
	if len(r.Files) < maxList && !slices.Contains(r.Files, file) {
		r.Files = append(r.Files, file)
	}
}

// limit takes what the client was told of the plan.
func (r *reading) limit(info []byte) {
	one := Window{Used: -1}
	var windows []byte
	jsonscan.Object(info, func(key, value []byte) {
		switch string(key) {
		case "rateLimitType":
			one.Name = jsonscan.Text(value)
		case "unifiedWindows":
			windows = value
		default:
			one.set(string(key), value)
		}
	})
	r.rejected = r.rejected || one.Status == "rejected"
	if one.Name != "" {
		if one.Used < 0 && one.Status == "rejected" {
			one.Used = 100
		}
		r.setWindow(one)
	}
	jsonscan.Object(windows, func(key, value []byte) {
		w := Window{Name: string(key), Used: -1}
		jsonscan.Object(value, func(key, value []byte) { w.set(string(key), value) })
		r.setWindow(w)
	})
}

func (w *Window) set(key string, value []byte) {
	switch key {
	case "status":
		w.Status = jsonscan.Text(value)
	case "utilization":
		if n, err := strconv.ParseFloat(string(value), 64); err == nil {
			w.Used = 100 * n
		}
	case "resetsAt":
		w.Reset = unixTime(value)
	}
}

func (r *reading) setWindow(w Window) {
	i := slices.IndexFunc(r.Windows, func(old Window) bool { return old.Name == w.Name })
	switch {
	case i >= 0:
		r.Windows[i] = w
	case len(r.Windows) < maxList:
		r.Windows = append(r.Windows, w)
	}
}

// unixTime reads seconds since 1970; the zero time is none.
func unixTime(value []byte) time.Time {
	if n, ok := jsonscan.Count(value); ok && n > 0 {
		return time.Unix(int64(n), 0).UTC()
	}
	return time.Time{}
}

// result takes a result row. A session that goes on after one, when a background
// task of it ends, has several; the last one decides.
func (r *reading) result(line []byte) {
	res := result{}
	var since []byte
	jsonscan.Object(line, func(key, value []byte) {
		switch string(key) {
		case "is_error":
			res.isError = jsonscan.True(value)
		case "subtype":
			res.subtype = jsonscan.Text(value)
		case "terminal_reason":
			res.reason = jsonscan.Text(value)
		case "api_error":
			res.apiError = jsonscan.Text(value)
		case "api_error_status":
			res.status, _ = jsonscan.Count(value)
		case "num_turns":
			res.turns, _ = jsonscan.Count(value)
		case "result":
			res.text = jsonscan.Text(value)
		case "errors":
			jsonscan.Array(value, func(value []byte) { res.errors = firstOf(res.errors, jsonscan.Text(value)) })
		case "session_id":
			r.Session = firstOf(jsonscan.Text(value), r.Session)
		case "total_cost_usd":
			r.Total.CostUSD, _ = strconv.ParseFloat(string(value), 64)
		case "modelUsage":
			r.Total.Models = models(value)
		case "model_usage_since_last_result":
			since = value
		case "permission_denials":
			r.denials(value)
		}
	})
	r.hasResult, r.last = true, res
	r.Turns += res.turns
	if since == nil { // an older client counts each run by itself
		r.Run = r.Total
	} else {
		r.Run.add(models(since))
	}
	if !res.isError {
		r.Text += res.text[:min(len(res.text), max(0, maxText-len(r.Text)))] + "\n"
	}
}

// models reads tokens by model.
func models(value []byte) map[string]Tokens {
	all := map[string]Tokens{}
	jsonscan.Object(value, func(name, value []byte) {
		var t Tokens
		jsonscan.Object(value, func(key, value []byte) {
			switch string(key) {
			case "inputTokens":
				t.Input, _ = jsonscan.Count(value)
			case "outputTokens":
				t.Output, _ = jsonscan.Count(value)
			case "cacheReadInputTokens":
				t.CacheRead, _ = jsonscan.Count(value)
			case "cacheCreationInputTokens":
				t.CacheWrite, _ = jsonscan.Count(value)
			case "costUSD":
				t.CostUSD, _ = strconv.ParseFloat(string(value), 64)
			}
		})
		all[string(name)] = t
	})
	return all
}

// add counts more tokens in.
func (s *Spend) add(more map[string]Tokens) {
	if s.Models == nil {
		s.Models = map[string]Tokens{}
	}
	for name, t := range more {
		old := s.Models[name]
		s.Models[name] = Tokens{
			old.Input + t.Input, old.Output + t.Output, old.CacheRead + t.CacheRead, old.CacheWrite + t.CacheWrite, old.CostUSD + t.CostUSD,
		}
		s.CostUSD += t.CostUSD
	}
}

// maxWhat is the most that is kept of what was denied, in columns.
const maxWhat = 200

func (r *reading) denials(list []byte) {
	jsonscan.Array(list, func(value []byte) {
		var d Denial
		jsonscan.Object(value, func(key, value []byte) {
			switch string(key) {
			case "tool_name":
				d.Tool = jsonscan.Text(value)
			case "tool_input":
				for _, name := range []string{"file_path", "notebook_path", "command", "url", "pattern"} {
					d.What = firstOf(d.What, term.Cut(term.Line(jsonscan.Text(jsonscan.Member(value, name))), maxWhat))
				}
			}
		})
		if len(r.Denials) < maxList {
			r.Denials = append(r.Denials, d)
		}
	})
}

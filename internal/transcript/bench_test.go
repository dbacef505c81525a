package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// session writes a transcript of about size bytes that looks like a real one:
// turns of a prompt, a few tool calls with their output, a reply, and the rows
// the host puts in between and behind.
func session(b *testing.B, size int, end ...string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	output := strings.Repeat("some output of a command, \"quoted\" and\n", 350)
	for written, i := 0, 0; written < size; i++ {
		call := fmt.Sprintf("toolu_%d", i)
		n, err := f.WriteString(lines(
			typed("please go on with the next step"),
			reply(toolUse(call, "Bash", `{"command":"go test ./..."}`), usage(20_000+i)),
			toolResult(call, output, i%7 == 0),
			`{"type":"api-request","requestId":"r"}`, said(20_100+i), prompt(2000), `{"type":"mode","mode":"normal"}`))
		if err != nil {
			b.Fatal(err)
		}
		written += n
	}
	end = append(end, prompt(60<<10), `{"type":"last-prompt","lastPrompt":"a"}`, `{"type":"mode","mode":"normal"}`)
	if _, err := f.WriteString(lines(end...)); err != nil {
		b.Fatal(err)
	}
	return path
}

// prompt is a row like the copy of the system prompt that the host keeps.
func prompt(size int) string {
	const prose = "Lines of prose as a prompt has them, with a `word` marked and \"another\" quoted.\n"
	return strings.Replace(attachment(0), `"systemPrompt":[""]`, `"systemPrompt":[`+quote(strings.Repeat(prose, size/len(prose)))+`]`, 1)
}

func benchmarkTail(b *testing.B, path string) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadTail(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTail1MB(b *testing.B)  { benchmarkTail(b, session(b, 1<<20)) }
func BenchmarkTail50MB(b *testing.B) { benchmarkTail(b, session(b, 50<<20)) }

// A row of 20 MB stands behind the newest reply that can be read.
func BenchmarkTailHugeLine(b *testing.B) {
	benchmarkTail(b, session(b, 50<<20, typed(strings.Repeat("x", 20<<20))))
}

// No row of the whole file is of any use: the worst there is.
func BenchmarkTailNoReply50MB(b *testing.B) {
	path := filepath.Join(b.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(lines(typed("a"), prompt(12<<10)), 50<<20/(13<<10))), 0o600); err != nil {
		b.Fatal(err)
	}
	benchmarkTail(b, path)
}

func BenchmarkFacts50MB(b *testing.B) {
	path := session(b, 50<<20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadFacts(path, time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
}

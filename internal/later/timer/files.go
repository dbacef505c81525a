// Package timer has the system start `ccreload later tick` every few minutes, so
// that the queue goes on while no session is open: a systemd user unit, a launchd
// agent, or a task of the Windows Task Scheduler. What it writes says who wrote it,
// and only that is ever replaced or removed.
package timer

import (
	_ "embed"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/ccreload/ccreload/internal/wrapper"
)

// name is that of the units, and of the task.
const name = "cc-later"

// label is what launchd calls the agent.
const label = "com.github.ccreload.cc-later"

// mark is in every file that we write.
const mark = "Written by `ccreload later timer install`"

// everyWord begins the words in the script that say how often it is started.
const everyWord = "Started every "

//go:embed tick.sh
var tickSh string

//go:embed tick.cmd
var tickCmd string

//go:embed cc-later.service
var serviceUnit string

//go:embed cc-later.timer
var timerUnit string

//go:embed launchd.plist
var plist string

//go:embed task.xml
var task string

// file is one that Install writes.
type file struct {
	path string
	data string
	perm uint32
}

// files are what Install writes, the script first.
func (p Place) files(every time.Duration) []file {
	list := []file{{p.script(), p.scriptText(every), 0o700}}
	seconds, minutes := strconv.Itoa(int(every.Seconds())), strconv.Itoa(int(every.Minutes()))
	fill := func(text, script string) string {
		return strings.NewReplacer("@SCRIPT@", script, "@SECONDS@", seconds, "@MINUTES@", minutes, "@LABEL@", label).Replace(text)
	}
	switch p.OS {
	case "darwin":
		return append(list, file{p.plist(), fill(plist, xmlText(p.script())), 0o644})
	case "windows":
		return append(list, file{p.taskXML(), encode16(strings.ReplaceAll(fill(task, xmlText(`"`+p.script()+`"`)), "\n", "\r\n")), 0o600})
	}
	return append(list,
		file{p.unit(".service"), fill(serviceUnit, unitWord(p.script())), 0o644},
		file{p.unit(".timer"), fill(timerUnit, ""), 0o644})
}

func (p Place) dir() string               { return filepath.Join(p.App, "timer") }
func (p Place) last() string              { return filepath.Join(p.dir(), "last") }
func (p Place) taskXML() string           { return filepath.Join(p.dir(), "task.xml") }
func (p Place) unit(suffix string) string { return filepath.Join(p.Units, name+suffix) }
func (p Place) plist() string             { return filepath.Join(p.Units, label+".plist") }

func (p Place) script() string {
	if p.OS == "windows" {
		return filepath.Join(p.dir(), "tick.cmd")
	}
	return filepath.Join(p.dir(), "tick")
}

func (p Place) scriptText(every time.Duration) string {
	windows := p.OS == "windows"
	s := wrapper.Script{Text: tickSh, Plugin: name, Runtime: p.Runtime, Windows: windows}
	plugins := filepath.Join(p.Config, "plugins")
	quoted := wrapper.Quote(plugins, false)
	if windows {
		s.Text, quoted = tickCmd, strings.ReplaceAll(plugins, "%", "%%")
	}
	var env []string
	for _, entry := range p.Environ {
		key, value, _ := strings.Cut(entry, "=")
		if strings.EqualFold(key, "PATH") {
			value = p.path(value)
		}
		if windows {
			env = append(env, `set "`+key+`=`+strings.ReplaceAll(value, "%", "%%")+`"`)
		} else {
			env = append(env, "export "+key+"="+wrapper.Quote(value, false))
		}
	}
	s.Text = strings.NewReplacer("@EVERY@", everyWord+every.String(), "@ENV@", strings.Join(env, "\n"), "@PLUGINS@", quoted).Replace(s.Text)
	return s.String()
}

// path is a PATH without the directories of plugins, which change with their
// versions, and without those that depend on where somebody stands.
func (p Place) path(value string) string {
	separator, abs, slash := ":", path.IsAbs, func(s string) string { return s }
	if p.OS == "windows" {
		separator, slash = ";", func(s string) string { return strings.ToLower(strings.ReplaceAll(s, `\`, "/")) }
		abs = func(s string) bool { return len(s) > 2 && s[1] == ':' || strings.HasPrefix(s, `\\`) }
	}
	plugins := slash(filepath.Join(p.Config, "plugins")) + "/"
	var list []string
	for dir := range strings.SplitSeq(value, separator) {
		if abs(dir) && !strings.HasPrefix(slash(dir)+"/", plugins) {
			list = append(list, dir)
		}
	}
	return strings.Join(list, separator)
}

// unitWord returns s as one word of a command in a unit of systemd.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(s) + `"`
}

// xmlText returns s as text in XML.
func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// encode16 returns s in UTF-16 with a mark of the byte order, as the Task Scheduler
// wants it.
func encode16(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// isOurs reports whether we have written a text. In UTF-16 a mark of ours has a
// zero after each byte.
func isOurs(data []byte) bool {
	return strings.Contains(strings.ReplaceAll(string(data), "\x00", ""), mark)
}

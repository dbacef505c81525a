// Package wrapper has what the scripts share that we leave in a user's
// directories for others to call: the runtime comes with the plugins, whose
// directories change with their versions, so each looks for the newest one when it
// is called. It only makes texts.
package wrapper

import (
	_ "embed"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
)

//go:embed find.sh
var findSh string

//go:embed find.cmd
var findCmd string

// Script is such a script: a text with these words in it, each of which stands for
// something else.
//
//	@FIND@     sets root to the plugin with the newest runtime below $plugins, or
//	           to nothing; on Unix the variables of the plugin are exported, too
//	@ROOT@, @DATA@  the names of those variables
//	@RUNTIME@  the path Runtime, quoted
type Script struct {
	Text    string
	Plugin  string // only this plugin counts; "" is any of ours
	Runtime string // a program that no update moves, "" for none
	Windows bool
}

// String returns the script as it is written into a file.
func (s Script) String() string {
	find, plugin := findSh, s.Plugin
	if s.Windows {
		find = findCmd
	}
	if plugin == "" {
		plugin = "*"
	}
	text := strings.ReplaceAll(s.Text, "@FIND@\n", find)
	text = strings.NewReplacer("@PLUGIN@", plugin, "@ROOT@", host.RootVar, "@DATA@", host.DataVar, "@RUNTIME@", Quote(s.Runtime, s.Windows)).Replace(text)
	if s.Windows {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// Quote returns s as one word of a script.
func Quote(s string, windows bool) string {
	if windows {
		return `"` + strings.ReplaceAll(s, "%", "%%") + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

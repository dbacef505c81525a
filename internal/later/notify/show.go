package notify

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	showTime  = 5 * time.Second // for the desktop to take a note
	showGrace = 100 * time.Millisecond
	maxTitle  = 80 // columns
	maxText   = 200
)

// Desktop shows notes on the desktop of whoever runs this program.
type Desktop struct {
	OS       string // as runtime.GOOS
	LookPath func(string) (string, error)
	Environ  []string
}

// Show shows a note, in a few seconds at most. A system without the means for it is
// no error. No shell sees the text.
func (d Desktop) Show(ctx context.Context, n Note) error {
	cmd := d.command(n.clean())
	if cmd == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, showTime)
	defer cancel()
	if err := proc.Run(ctx, cmd, showGrace); err != nil {
		return fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return nil
}

// clean is a note of single lines that a terminal or a desktop may be given.
func (n Note) clean() Note {
	return Note{term.Cut(term.Line(n.Title), maxTitle), term.Cut(term.Line(n.Text), maxText)}
}

// appleScript takes the texts as arguments, so that they are nothing but texts.
var appleScript = [...]string{
	"-e", "on run argv",
	"-e", "display notification (item 2 of argv) with title (item 1 of argv)",
	"-e", "end run",
}

// toast takes the texts from the environment.
const toast = `$ErrorActionPreference = 'Stop'
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$text = $xml.GetElementsByTagName('text')
[void]$text.Item(0).AppendChild($xml.CreateTextNode($env:CCRELOAD_NOTE_TITLE))
[void]$text.Item(1).AppendChild($xml.CreateTextNode($env:CCRELOAD_NOTE_TEXT))
$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($id).Show([Windows.UI.Notifications.ToastNotification]::new($xml))`

// command returns what shows a note, nil where nothing does.
func (d Desktop) command(n Note) *exec.Cmd {
	var name string
	var args []string
	environ := d.Environ
	switch d.OS {
	case "darwin":
		name, args = "osascript", append(appleScript[:], n.Title, n.Text)
	case "windows":
		name, args = "powershell.exe", []string{"-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command", toast}
		environ = append(environ[:len(environ):len(environ)], "CCRELOAD_NOTE_TITLE="+n.Title, "CCRELOAD_NOTE_TEXT="+n.Text)
	default:
		// The text may have markup in it; the title may not.
		name, args = "notify-send", []string{"--app-name=cc-later", "--", n.Title, markup.Replace(n.Text)}
	}
	path, err := d.LookPath(name)
	if err != nil {
		return nil
	}
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = environ, os.TempDir()
	return cmd
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Terminal rings the bell of a terminal and gives it the note, which those that know
// OSC 9 show on the desktop.
func Terminal(w io.Writer, n Note) {
	n = n.clean()
	fmt.Fprintf(w, "\x1b]9;%s: %s\x07\x07", n.Title, n.Text)
}

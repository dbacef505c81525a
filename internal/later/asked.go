package later

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

// askedFile says which command a person was asked about last, and in which session.
// A model that calls the program in a way which the question does not catch (from a
// script, say) must not get a text past the person.
const askedFile = "asked"

// askedFor is how long an answer may take.
const askedFor = 10 * time.Minute

// noteAsked notes that the person is asked about a command.
func noteAsked(app, session, command string) error {
	if err := os.MkdirAll(app, 0o700); err != nil {
		return err
	}
	return state.WriteFile(filepath.Join(app, askedFile), []byte(session+"\n"+command), 0o600)
}

// forgetAsked takes back a note of the session: whoever types a prompt has answered,
// and what they refused must not be done by other words.
func forgetAsked(app, session string) {
	path := filepath.Join(app, askedFile)
	data, err := state.ReadFile(path, 1<<20)
	if err != nil {
		return
	}
	if who, _, _ := strings.Cut(string(data), "\n"); who == session {
		os.Remove(path)
	}
}

// WasAsked reports whether the person was asked about a command of that session
// which has the words and the text in it, and takes back the note: one answer is
// for one call.
func WasAsked(app, session, words, text string, now time.Time) bool {
	path := filepath.Join(app, askedFile)
	info, err := os.Lstat(path)
	if err != nil || now.Sub(info.ModTime()).Abs() > askedFor {
		return false
	}
	data, err := state.ReadFile(path, 1<<20)
	if err != nil {
		return false
	}
	who, command, _ := strings.Cut(string(data), "\n")
	if who != session || !strings.Contains(command, words) || !strings.Contains(plain(command), plain(text)) {
		return false
	}
	return os.Remove(path) == nil
}

// plain returns a text without what a shell needs to quote it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`'"\`, r) || r <= ' ' {
			return -1
		}
		return r
	}, s)
}

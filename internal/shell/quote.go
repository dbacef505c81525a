package shell

import "strings"

// bare are the characters, besides letters and digits of ASCII, that no shell
// takes for anything else.
const bare = "-_./:=@%+,"

// Quote returns word as a person can paste it into a shell: between single quotes,
// unless nothing in it needs them. A line break stays in the quotes.
func Quote(word string) string {
	plain := word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(bare, r))
	}) < 0
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

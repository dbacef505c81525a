package host

import "strings"

// Nearest returns the word that word was most likely meant to be: one that
// holds it, or that is a few typing errors away, "" when none is close. Letter
// case and the difference between - and _ do not count.
func Nearest(word string, words []string) string {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "_")) }
	word = plain(word)
	best, most := "", min((len(word)+1)/3, maxErrors) // errors that are forgiven
	for _, w := range words {
		if len(word) >= minPart && strings.Contains(plain(w), word) {
			return w
		}
		if d := distance(word, plain(w)); d <= most {
			best, most = w, d-1
		}
	}
	return best
}

const (
	minPart   = 3 // letters of which a word may be part of another by more than chance
	maxErrors = 4 // more make another word
)

// distance is the number of insertions, deletions and replacements of bytes, and of
// swaps of neighbors, that make a into b.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost++
			}
			next[j+1] = min(cost, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// Either returns words as a choice in a sentence: "a, b or c".
func Either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

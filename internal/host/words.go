package host

import "strings"

// Nearest returns the word that word was most likely meant to be: one that
// holds it, or that is a few typing errors away, "" when none is close. Letter
// case and the difference between - and _ do not count.
func Nearest(word string, words []string) string {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "_")) }
	word = plain(word)
	best, most := "", len(word)/3+1 // errors that are forgiven
	for _, w := range words {
		if word != "" && strings.Contains(plain(w), word) {
			return w
		}
		if d := distance(word, plain(w)); d <= most {
			best, most = w, d-1
		}
	}
	return best
}

// distance is the number of insertions, deletions and replacements of bytes
// that make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
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

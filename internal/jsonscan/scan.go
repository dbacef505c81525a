// Package jsonscan reads a few fields out of JSON without decoding the rest:
// hook payloads and the rows of a transcript, at every turn of every user.
//
// It is not a JSON library. encoding/json takes longer to get ready than a
// whole hook has, and a row may hold a megabyte of which a number is wanted.
// The scanner checks the structure of the objects it is asked about and steps
// over everything else; FuzzScan holds it against encoding/json.
package jsonscan

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Object calls visit for each member of the JSON object in data, with the key
// as it is written between its quotes and the value as it stands. It reports
// whether data is one complete object. On false, what visit was told must be
// forgotten: the text is half-written or broken.
func Object(data []byte, visit func(key, value []byte)) bool {
	return members(data, '{', '}', visit)
}

// Member returns the value of one member of an object, nil if there is none.
func Member(object []byte, key string) []byte {
	var found []byte
	if !Object(object, func(k, v []byte) {
		if string(k) == key {
			found = v
		}
	}) {
		return nil
	}
	return found
}

// Find is Member for a large object of which one small member is wanted. It looks
// from both ends and steps over as little as it can, so that of an object that is
// broken in its middle a member may be found, and of one with the same key twice
// either.
func Find(object []byte, key string) []byte {
	from := skipSpace(object, 0)
	to := len(object)
	for to > from && isSpace(object[to-1]) {
		to--
	}
	if to-from < 2 || object[from] != '{' || object[to-1] != '}' {
		return nil
	}
	if value, done := findForwards(object, from, key); done {
		return value
	}
	if value, done := findBackwards(object[:to-1], key); done {
		return value
	}
	return Member(object, key)
}

// findForwards looks at the members from the beginning up to the first that is an
// object or an array. done is false when it came no further.
func findForwards(data []byte, i int, key string) (value []byte, done bool) {
	for {
		i = skipSpace(data, i+1)
		end := skipString(data, i)
		if end < 0 {
			return nil, false
		}
		found := string(data[i+1:end-1]) == key
		if i = skipSpace(data, end); i == len(data) || data[i] != ':' {
			return nil, false
		}
		i = skipSpace(data, i+1)
		if i == len(data) || data[i] == '{' || data[i] == '[' {
			return nil, false
		}
		end = skipValue(data, i)
		if end < 0 {
			return nil, false
		}
		if found {
			return data[i:end], true
		}
		if i = skipSpace(data, end); i == len(data) || data[i] != ',' {
			return nil, i < len(data) && data[i] == '}'
		}
	}
}

// findBackwards looks at the members from the end up to the first that is an
// object or an array, of which only small ones are stepped over.
func findBackwards(data []byte, key string) (value []byte, done bool) {
	for i := len(data); ; {
		i = backSpace(data, i)
		end := i
		if i = backValue(data, i); i < 0 {
			return nil, false
		}
		value = data[i:end]
		if i = backSpace(data, i); i == 0 || data[i-1] != ':' {
			return nil, false
		}
		end = backSpace(data, i-1)
		if i = backString(data, end); i < 0 {
			return nil, false
		}
		if string(data[i+1:end-1]) == key {
			return value, true
		}
		if i = backSpace(data, i); i == 0 || data[i-1] != ',' {
			return nil, i > 0 && data[i-1] == '{' && backSpace(data, i-1) == 0
		}
		i--
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func backSpace(data []byte, i int) int {
	for i > 0 && isSpace(data[i-1]) {
		i--
	}
	return i
}

// backString returns the offset of the string that ends before i, or -1. Within a
// string a quote has an odd number of backslashes before it.
func backString(data []byte, i int) int {
	if i == 0 || data[i-1] != '"' {
		return -1
	}
	for i--; i > 0; i-- {
		if data[i-1] != '"' {
			continue
		}
		back := i - 1
		for back > 0 && data[back-1] == '\\' {
			back--
		}
		if (i-1-back)%2 == 0 {
			return i - 1
		}
	}
	return -1
}

// maxBack is the longest object or array that is stepped over from its end.
const maxBack = 1 << 10

// backValue returns the offset of the value that ends before i, or -1.
func backValue(data []byte, i int) int {
	if i == 0 {
		return -1
	}
	switch data[i-1] {
	case '"':
		return backString(data, i)
	case '}', ']':
		depth := 0
		for end := i; i > 0 && end-i < maxBack; {
			switch data[i-1] {
			case '"':
				if i = backString(data, i); i < 0 {
					return -1
				}
				continue
			case '}', ']':
				depth++
			case '{', '[':
				if depth--; depth == 0 {
					return i - 1
				}
			}
			i--
		}
		return -1
	}
	end := i
	for i > 0 && isLiteral(data[i-1]) {
		i--
	}
	if i == end {
		return -1
	}
	return i
}

// Array calls visit for each value of the JSON array in data and reports
// whether data is one complete array.
func Array(data []byte, visit func(value []byte)) bool {
	return members(data, '[', ']', func(_, value []byte) { visit(value) })
}

func members(data []byte, opening, closing byte, visit func(key, value []byte)) bool {
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != opening {
		return false
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == closing {
		return skipSpace(data, i+1) == len(data)
	}
	for {
		var key []byte
		if opening == '{' {
			end := skipString(data, i)
			if end < 0 {
				return false
			}
			key = data[i+1 : end-1]
			i = skipSpace(data, end)
			if i == len(data) || data[i] != ':' {
				return false
			}
			i = skipSpace(data, i+1)
		}
		end := skipValue(data, i)
		if end < 0 {
			return false
		}
		visit(key, data[i:end])
		i = skipSpace(data, end)
		switch {
		case i == len(data):
			return false
		case data[i] == closing:
			return skipSpace(data, i+1) == len(data)
		case data[i] != ',':
			return false
		}
		i = skipSpace(data, i+1)
	}
}

// Within is Object for an object that holds others: those that into accepts are
// gone into on the way, at any depth, rather than given to visit. Both are told the
// key of the object that a member is in, nil for the outermost.
func Within(data []byte, into func(in, key []byte) bool, visit func(in, key, value []byte)) bool {
	end := within(data, skipSpace(data, 0), nil, into, visit)
	return end >= 0 && skipSpace(data, end) == len(data)
}

// within returns the offset behind the object that begins at i, or -1.
func within(data []byte, i int, in []byte, into func(in, key []byte) bool, visit func(in, key, value []byte)) int {
	if i == len(data) || data[i] != '{' {
		return -1
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1
	}
	for {
		end := skipString(data, i)
		if end < 0 {
			return -1
		}
		key := data[i+1 : end-1]
		if i = skipSpace(data, end); i == len(data) || data[i] != ':' {
			return -1
		}
		if i = skipSpace(data, i+1); i < len(data) && data[i] == '{' && into(in, key) {
			end = within(data, i, key, into, visit)
		} else if end = skipValue(data, i); end >= 0 {
			visit(in, key, data[i:end])
		}
		if end < 0 {
			return -1
		}
		switch i = skipSpace(data, end); {
		case i == len(data):
			return -1
		case data[i] == '}':
			return i + 1
		case data[i] != ',':
			return -1
		}
		i = skipSpace(data, i+1)
	}
}

// Prefix calls visit for each member of the JSON object that data is the
// beginning of, until visit returns false. A value that is cut off comes as
// nil.
func Prefix(data []byte, visit func(key, value []byte) bool) {
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != '{' {
		return
	}
	for {
		i = skipSpace(data, i+1)
		end := skipString(data, i)
		if end < 0 {
			return
		}
		key := data[i+1 : end-1]
		if i = skipSpace(data, end); i == len(data) || data[i] != ':' {
			return
		}
		i = skipSpace(data, i+1)
		end = skipValue(data, i)
		// A number or word at the very end may go on.
		if end < 0 || end == len(data) && isLiteral(data[end-1]) {
			visit(key, nil)
			return
		}
		if !visit(key, data[i:end]) {
			return
		}
		if i = skipSpace(data, end); i == len(data) || data[i] != ',' {
			return
		}
	}
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the offset behind the string that begins at i, or -1.
func skipString(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return -1
	}
	for i++; ; {
		// Most strings are short, and some are full of escapes: a few bytes
		// one by one, before the vectorised search is worth its call.
		for end := min(i+16, len(data)); i < end; i++ {
			switch data[i] {
			case '"':
				return i + 1
			case '\\':
				i++
			}
		}
		if i >= len(data) {
			return -1
		}
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return -1
		}
		quote := i + n
		back := quote
		for back > i && data[back-1] == '\\' {
			back--
		}
		if (quote-back)%2 == 0 {
			return quote + 1
		}
		i = quote + 1
	}
}

// skipValue returns the offset behind the value that begins at i, or -1. In
// objects and arrays it only follows strings and the depth of the brackets.
func skipValue(data []byte, i int) int {
	if i >= len(data) {
		return -1
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		depth := 0
		for i < len(data) {
			switch data[i] {
			case '"':
				if i = skipString(data, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	from := i
	for i < len(data) && isLiteral(data[i]) {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// isLiteral reports whether c can be part of a number, true, false or null.
func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// Plain returns the text of a JSON string that needs no unescaping, which is
// what ids, models, versions and type names are; "" for anything else.
func Plain(value []byte) string {
	if len(value) < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return ""
	}
	return string(value[1 : len(value)-1])
}

// Is reports whether value is the JSON string s, which must need no escaping.
func Is(value []byte, s string) bool {
	return len(value) == len(s)+2 && value[0] == '"' && string(value[1:len(value)-1]) == s
}

// True reports whether value is true.
func True(value []byte) bool { return string(value) == "true" }

// maxCount bounds a number of tokens: no sum of a few can overflow.
const maxCount = 1 << 40

// Count returns a JSON number that is a whole number from 0 to maxCount. It
// reads 12.0 and 1e3 as no number: the host never writes them.
func Count(value []byte) (n int, ok bool) {
	for _, c := range value {
		if c < '0' || c > '9' || n > maxCount {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(value) > 0
}

// Escaped reports whether value is anything but a JSON string whose text
// stands between its quotes as it is.
func Escaped(value []byte) bool {
	return len(value) < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 || !utf8.Valid(value)
}

// Text returns the text of any JSON string, with lone surrogates and bytes
// that are no UTF-8 replaced; "" for anything else.
func Text(value []byte) string {
	if !Escaped(value) {
		return string(value[1 : len(value)-1])
	}
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	value = value[1 : len(value)-1]
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); {
		c := value[i]
		if c != '\\' {
			r, size := utf8.DecodeRune(value[i:])
			out = utf8.AppendRune(out, r)
			i += size
			continue
		}
		r, size := escape(value[i:])
		if size == 0 {
			return ""
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return string(out)
}

// escape returns the character of the escape that s begins with and its
// length, 0 if there is no such escape.
func escape(s []byte) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r = unicodeEscape(s)
	if r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if whole := utf16.DecodeRune(r, unicodeEscape(s[6:])); whole != utf8.RuneError {
			return whole, 12
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// unicodeEscape returns the character of a \uXXXX at the start of s, or -1.
func unicodeEscape(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

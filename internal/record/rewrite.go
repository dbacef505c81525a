package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// fillKey is the one key of an object that stands for a string.
const fillKey = "$fill"

// maxFill is the longest string a fill may stand for, in characters.
const maxFill = 32 << 20

// rewriter changes the strings of a JSON value and nothing else: the order of
// keys and the spelling of numbers stay, since readers of transcripts may
// depend on them.
type rewriter struct {
	// text returns what stands for the string s, as JSON. path holds the keys
	// that lead to it; elements of an array have the path of the array.
	text func(path []string, s string) []byte
	// fill returns what stands for a fill of n characters, as JSON.
	fill func(n int) []byte
	// key returns what a key becomes; nil leaves keys alone.
	key func(path []string, key string) string

	dec *json.Decoder
	out bytes.Buffer
}

// rewrite returns raw with its strings changed. raw must be one JSON value.
func (r *rewriter) rewrite(raw []byte) ([]byte, error) {
	r.dec = json.NewDecoder(bytes.NewReader(raw))
	r.dec.UseNumber()
	r.out = bytes.Buffer{}
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	if err := r.value(tok, nil); err != nil {
		return nil, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return r.out.Bytes(), nil
}

func (r *rewriter) value(tok json.Token, path []string) error {
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(path)
		}
		return r.array(path)
	case string:
		r.out.Write(r.text(path, t))
	case json.Number:
		r.out.WriteString(t.String())
	case bool:
		r.out.WriteString(strconv.FormatBool(t))
	default:
		r.out.WriteString("null")
	}
	return nil
}

// object writes the rest of an object whose brace has been read.
func (r *rewriter) object(path []string) error {
	for first := true; ; first = false {
		tok, err := r.dec.Token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok { // the closing brace
			if first {
				r.out.WriteByte('{')
			}
			r.out.WriteByte('}')
			return nil
		}
		value, err := r.dec.Token()
		if err != nil {
			return err
		}
		if first && key == fillKey {
			return r.filled(value)
		}
		if first {
			r.out.WriteByte('{')
		} else {
			r.out.WriteByte(',')
		}
		below := append(path[:len(path):len(path)], key)
		if r.key != nil {
			key = r.key(path, key)
		}
		r.out.Write(quote(key))
		r.out.WriteByte(':')
		if err := r.value(value, below); err != nil {
			return err
		}
	}
}

func (r *rewriter) filled(value json.Token) error {
	n, ok := value.(json.Number)
	if !ok {
		return errors.New("$fill is not a number")
	}
	size, err := strconv.Atoi(n.String())
	if err != nil || size < 0 || size > maxFill {
		return errors.New("$fill " + n.String() + " is not a number of characters")
	}
	if end, err := r.dec.Token(); err != nil || end != json.Delim('}') {
		return errors.New("$fill has company in its object")
	}
	r.out.Write(r.fill(size))
	return nil
}

func (r *rewriter) array(path []string) error {
	r.out.WriteByte('[')
	for first := true; ; first = false {
		tok, err := r.dec.Token()
		if err != nil {
			return err
		}
		if tok == json.Delim(']') {
			r.out.WriteByte(']')
			return nil
		}
		if !first {
			r.out.WriteByte(',')
		}
		if err := r.value(tok, path); err != nil {
			return err
		}
	}
}

func quote(s string) []byte { return []byte(jsonscan.Quote(s)) }

// fillOf returns the fill for a string of n characters.
func fillOf(n int) []byte { return []byte(`{"` + fillKey + `":` + strconv.Itoa(n) + `}`) }

// filler returns the string a fill of n characters stands for, as JSON.
func filler(n int) []byte { return []byte(`"` + strings.Repeat("x", n) + `"`) }

package gen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// document is a YAML or JSON file that still knows where its values stand.
type document struct {
	file  string
	lines []string
	body  ast.Node
	// Where each value stands, by a path such as /plugins/0/name; see place.
	places map[string]*token.Token
}

// place returns where the value at path begins, nil where none is. Most runs ask
// for none.
func (d *document) place(path string) *token.Token {
	if d.places == nil && d.body != nil {
		d.places = map[string]*token.Token{}
		d.places[""], _ = d.index("", d.body)
	}
	return d.places[path]
}

// parse reads data, which must hold one document. The error is Problems.
func parse(file string, data []byte) (*document, error) {
	text, err := decodeText(file, data)
	if err != nil {
		return nil, err
	}
	d := &document{file: file, lines: strings.Split(text, "\n")}
	tokens := lexer.Tokenize(text)
	if err := d.refused(tokens); err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, Problems{d.fromYAML(err)}
	}
	switch {
	case len(parsed.Docs) == 0 || parsed.Docs[0].Body == nil:
		return nil, Problems{d.problem("", "the file is empty")}
	case len(parsed.Docs) > 1:
		return nil, Problems{d.atToken(parsed.Docs[1].Start, "a second document begins here: a file may hold only one")}
	}
	d.body = parsed.Docs[0].Body
	return d, nil
}

// maxDepth is how far lists and mappings may be nested: several times what any
// file that is read here needs, and far below where the parser gets slow.
const maxDepth = 60

// refused reports the first token that is no use in any file and that the
// libraries answer late or badly.
func (d *document) refused(tokens token.Tokens) error {
	if t := deep(tokens); t != nil {
		return Problems{d.atToken(t, fmt.Sprintf("lists and mappings are nested more than %d deep", maxDepth))}
	}
	for _, t := range tokens {
		switch t.Type {
		case token.NanType, token.InfinityType:
			return Problems{d.atToken(t, t.Value+" is not a valid number")}
		case token.TagType:
			return Problems{d.atToken(t, fmt.Sprintf("the tag %s is not supported: remove it, and write text in quotes and numbers without", t.Value))}
		}
	}
	return nil
}

// deep returns the token at which lists and mappings are nested too deep.
func deep(tokens token.Tokens) *token.Token {
	brackets := 0
	var columns []int // of the lists and mappings by indentation around a token
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if brackets > 0 {
				break
			}
			column := t.Position.Column
			if t.Type == token.MappingValueType && t.Prev != nil {
				column = t.Prev.Position.Column // that of the key
			}
			for len(columns) > 0 && columns[len(columns)-1] >= column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, column)
		}
		if brackets+len(columns) > maxDepth {
			return t
		}
	}
	return nil
}

// value returns what the document says, as encoding/json would have it.
func (d *document) value() (v any, err error) {
	if err := yaml.NodeToValue(d.body, &v); err != nil {
		return nil, Problems{d.fromYAML(err)}
	}
	return v, nil
}

// fromYAML turns an error of the YAML library into a Problem.
func (d *document) fromYAML(err error) finding {
	var placed yaml.Error
	if errors.As(err, &placed) {
		return d.atToken(placed.GetToken(), reworded(placed.GetMessage()))
	}
	return finding{File: d.file, Message: strings.TrimSpace(err.Error())}
}

// wordings say, of what the YAML library has found, what to do about it.
var wordings = []struct{ theirs, ours string }{
	{`^found character '\t'.*`, "a tab stands here: indent with spaces"},
	{`^value is not allowed in this context\. .*`, "something stands behind a value that has ended: put text with quotes in it into the other kind of quotes"},
	{`^value is not allowed in this context$`, "this does not belong here: is it indented like the lines around it?"},
	{`^mapping value is not allowed in this context$`, `a second ": " follows on this line: put text that has one into quotes`},
	{`^(non-map value is specified|unexpected key name)$`, "want KEY: VALUE, with a space behind the colon"},
	{`^('(.)' or '(.)' must be specified)$`, "$2 or $3 is missing before this"},
	{`^(?:could not find flow mapping end token|sequence end token) '?(.)'?.*`, "the $1 of this is missing"},
	{`^could not find end character of (\S+)-quoted text$`, "text in $1 quotes begins here and does not end"},
	{`^'(.)' is a reserved character$`, "text cannot begin with $1: put it into quotes"},
	{`^could not find alias "(.*)"$`, `nothing is called &$1: put text that begins with * into quotes`},
	{`^mapping key (".*") already defined at \[(\d+):\d+\]$`, "the key $1 is here twice, first in line $2"},
	{`^(unexpected scalar value type|found an invalid key for this map|unexpected map key.*|undefined map key)$`, "a key has to be text"},
}

// reworded returns a message of the YAML library in words that say what to do.
func reworded(message string) string {
	for _, w := range wordings {
		if re := compiled(w.theirs); re.MatchString(message) {
			return re.ReplaceAllString(message, w.ours)
		}
	}
	return message
}

// keySuffix, after the path of a value, means its key.
const keySuffix = "/#key"

// problem reports something about the value at path, such as /plugins/0/name.
// A path that leads nowhere, as to a key that is missing, is reported at the
// last element that exists.
func (d *document) problem(path, format string, args ...any) finding {
	for path != "" && d.place(path) == nil {
		path = path[:strings.LastIndex(path, "/")]
	}
	return d.atToken(d.place(path), fmt.Sprintf(format, args...))
}

func (d *document) atToken(t *token.Token, message string) finding {
	p := finding{File: d.file, Line: 1, Column: 1, Message: message}
	if t != nil && t.Position != nil {
		p.Line, p.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
	}
	if p.Line <= len(d.lines) {
		p.Source = d.lines[p.Line-1]
	}
	return p
}

// index notes where the values below node stand, and returns where node itself
// begins and whether it is a list or mapping. One of those that begins in a line
// below its key is shown at the key, where a person looks for it.
func (d *document) index(path string, node ast.Node) (begins *token.Token, nested bool) {
	begins = node.GetToken()
	switch n := node.(type) {
	case *ast.AnchorNode:
		return d.index(path, n.Value)
	case *ast.TagNode:
		return d.index(path, n.Value)
	case *ast.MappingNode:
		for i := len(n.Values) - 1; i >= 0; i-- {
			begins, _ = d.index(path, n.Values[i])
		}
		return begins, true
	case *ast.MappingValueNode:
		key := n.Key.GetToken()
		below := path + "/" + key.Value
		at, nested := d.index(below, n.Value)
		if nested {
			if at = bracket(n.Value); at == nil || at.Position.Line != key.Position.Line {
				at = key
			}
		}
		d.places[below], d.places[below+keySuffix] = at, key
		return key, true
	case *ast.SequenceNode:
		for i, value := range n.Values {
			below := fmt.Sprintf("%s/%d", path, i)
			d.places[below], _ = d.index(below, value)
		}
		return begins, true
	}
	return begins, false
}

// bracket returns the one that a list or mapping begins with, nil for none.
func bracket(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.AnchorNode:
		return bracket(n.Value)
	case *ast.MappingNode:
		if n.IsFlowStyle {
			return n.Start
		}
	case *ast.SequenceNode:
		if n.IsFlowStyle {
			return n.Start
		}
	}
	return nil
}

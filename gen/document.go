package gen

import (
	"errors"
	"fmt"
	"strconv"
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
}

// parse reads data, which must hold one document. The error is Problems.
func parse(file string, data []byte) (*document, error) {
	text, problem := decodeText(file, data)
	if problem != nil {
		return nil, Problems{*problem}
	}
	d := &document{file: file, lines: strings.Split(text, "\n")}
	tokens := lexer.Tokenize(text)
	if problem := d.refused(tokens); problem != nil {
		return nil, Problems{*problem}
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, Problems{d.fromYAML(err)}
	}
	switch {
	case len(parsed.Docs) == 0 || parsed.Docs[0].Body == nil:
		return nil, Problems{d.at(nil, "the file is empty")}
	case len(parsed.Docs) > 1:
		return nil, Problems{d.at(parsed.Docs[1].Body, "a second document begins here; one file holds one")}
	}
	d.body = parsed.Docs[0].Body
	return d, nil
}

// maxDepth is how far lists and mappings may be nested: several times what any
// file that is read here needs, and far below where the parser gets slow.
const maxDepth = 60

// refused reports the first token that is no use in any file and that the
// libraries answer late or badly.
func (d *document) refused(tokens token.Tokens) *Problem {
	brackets := 0
	var columns []int // of the lists and mappings by indentation around a token
	for _, t := range tokens {
		message := ""
		switch t.Type {
		case token.NanType, token.InfinityType:
			message = fmt.Sprintf("%s is no amount of anything: want a plain number", t.Value)
		case token.TagType:
			message = fmt.Sprintf("the tag %s has no use here: leave it out, and write text in quotes and numbers without", t.Value)
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
			message = fmt.Sprintf("lists and mappings are nested more than %d deep here: close some of them first", maxDepth)
		}
		if message != "" {
			p := d.atToken(t, message)
			return &p
		}
	}
	return nil
}

// decode fills v, a pointer to a struct, from the document. An unknown key or
// a value of another type is an error, Problems with its place.
func (d *document) decode(v any) error {
	if err := yaml.NewDecoder(strings.NewReader(""), yaml.Strict()).DecodeFromNode(d.body, v); err != nil {
		return Problems{d.fromYAML(err)}
	}
	return nil
}

// value returns the document as maps, slices and scalars.
func (d *document) value() (any, error) {
	var v any
	if err := yaml.NodeToValue(d.body, &v); err != nil {
		return nil, Problems{d.fromYAML(err)}
	}
	return v, nil
}

// fromYAML turns an error of the YAML library into a Problem.
func (d *document) fromYAML(err error) Problem {
	var placed yaml.Error
	if errors.As(err, &placed) {
		return d.atToken(placed.GetToken(), placed.GetMessage())
	}
	return Problem{File: d.file, Message: strings.TrimSpace(err.Error())}
}

// problem reports something about the value at path, whose elements are keys
// (string) and indexes (int). A path that leads nowhere, as to a key that is
// missing, is reported at the last element that exists.
func (d *document) problem(path []any, format string, args ...any) Problem {
	return d.at(d.find(path), fmt.Sprintf(format, args...))
}

// at reports something about node, nil for the beginning of the file.
func (d *document) at(node ast.Node, message string) Problem {
	if node == nil {
		return d.atToken(nil, message)
	}
	return d.atToken(start(node), message)
}

func (d *document) atToken(t *token.Token, message string) Problem {
	p := Problem{File: d.file, Line: 1, Column: 1, Message: message}
	if t != nil && t.Position != nil {
		p.Line, p.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
	}
	if p.Line <= len(d.lines) {
		p.Source = strings.TrimRight(d.lines[p.Line-1], "\r")
	}
	return p
}

// find returns the key or the value that path leads to: the key where the
// value is a list or mapping, since that is where a person looks for it.
func (d *document) find(path []any) ast.Node {
	at, mark := d.body, d.body
	for _, step := range path {
		next, place := descend(at, step)
		if next == nil {
			break
		}
		at, mark = next, place
	}
	return mark
}

// key returns the node of the key called name in the mapping at path.
func (d *document) key(path []any, name string) ast.Node {
	at := d.body
	for _, step := range path {
		if at, _ = descend(at, step); at == nil {
			return d.find(path)
		}
	}
	for _, pair := range pairs(at) {
		if keyName(pair) == name {
			return pair.Key
		}
	}
	return d.find(path)
}

// descend returns the child of node at step and the node to point at for it.
func descend(node ast.Node, step any) (child, place ast.Node) {
	switch step := step.(type) {
	case string:
		for _, pair := range pairs(node) {
			if keyName(pair) == step {
				if compound(pair.Value) {
					return pair.Value, pair.Key
				}
				return pair.Value, pair.Value
			}
		}
	case int:
		if seq, ok := plain(node).(*ast.SequenceNode); ok && step >= 0 && step < len(seq.Values) {
			return seq.Values[step], seq.Values[step]
		}
	}
	return nil, nil
}

// plain returns what node stands for, without anchor and tag.
func plain(node ast.Node) ast.Node {
	for {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
		default:
			return node
		}
	}
}

func compound(node ast.Node) bool {
	switch plain(node).(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode:
		return true
	}
	return false
}

func pairs(node ast.Node) []*ast.MappingValueNode {
	switch n := plain(node).(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

func keyName(pair *ast.MappingValueNode) string {
	if t := pair.Key.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// start returns the first token of node.
func start(node ast.Node) *token.Token {
	if ps := pairs(node); len(ps) > 0 {
		return ps[0].Key.GetToken()
	}
	return node.GetToken()
}

// pointer turns a JSON pointer such as /plugins/0/name into a path.
func pointer(s string, d *document) []any {
	var path []any
	at := d.body
	for _, step := range strings.Split(s, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var next any = step
		if _, ok := plain(at).(*ast.SequenceNode); ok {
			if i, err := strconv.Atoi(step); err == nil {
				next = i
			}
		}
		path = append(path, next)
		if at != nil {
			at, _ = descend(at, next)
		}
	}
	return path
}

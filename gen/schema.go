package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/ccreload/ccreload/internal/host"
)

// The schemas, by the name `ccreload-gen schema` takes.
const (
	SchemaManifest    = "manifest"
	SchemaPlugin      = "plugin"
	SchemaHooks       = "hooks"
	SchemaMarketplace = "marketplace"
	SchemaRecording   = "recording"
)

// Schemas returns the names of all schemas, sorted.
func Schemas() []string {
	return []string{SchemaHooks, SchemaManifest, SchemaMarketplace, SchemaPlugin, SchemaRecording}
}

// Schema returns the text of a JSON schema. The error lists the names there are.
func Schema(name string) ([]byte, error) {
	data, err := fs.ReadFile(source, "schema/"+name+".json")
	if err != nil {
		return nil, fmt.Errorf("there is no schema %q; there are %s", name, strings.Join(Schemas(), ", "))
	}
	return data, nil
}

// schema is a compiled schema with the text it came from, for its descriptions.
type schema struct {
	*jsonschema.Schema
	raw map[string]any
}

// compiled holds each schema from its first use on; most runs need few.
var compiled sync.Map // name → func() *schema

func schemaFor(name string) *schema {
	load, _ := compiled.LoadOrStore(name, sync.OnceValue(func() *schema {
		data, err := Schema(name)
		if err != nil {
			panic(err) // the names are constants of this package
		}
		s := &schema{Schema: jsonschema.MustCompileString(name+".json", string(data))}
		if err := json.Unmarshal(data, &s.raw); err != nil {
			panic(err)
		}
		return s
	}))
	return load.(func() *schema)()
}

// conform reports everything in the document that the schema refuses.
func (d *document) conform(name string) Problems {
	v, err := d.value()
	if err != nil {
		var ps Problems
		errors.As(err, &ps)
		return ps
	}
	s := schemaFor(name)
	var bad *jsonschema.ValidationError
	switch err := s.Validate(v); {
	case err == nil:
		return nil
	case !errors.As(err, &bad):
		return Problems{d.at(nil, err.Error())}
	}
	var ps Problems
	d.explain(s, bad, v, &ps)
	return ps
}

// conformJSON reports what the schema refuses in a JSON file. Places are
// looked up only when there is something to report: parsing JSON as YAML is
// far slower than parsing JSON.
func conformJSON(file string, data []byte, name string) Problems {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if _, problem := decodeText(file, data); problem != nil {
			return Problems{*problem}
		}
		return Problems{{File: file, Message: "not readable as JSON: " + err.Error()}}
	}
	if n, ok := outOfRange(v); ok {
		return Problems{{File: file, Message: fmt.Sprintf("the number %s is out of range: want one that a program can count with", n)}}
	}
	if !dec.More() && schemaFor(name).Validate(v) == nil {
		return nil
	}
	d, err := parse(file, data)
	if err != nil {
		var ps Problems
		errors.As(err, &ps)
		return ps
	}
	return d.conform(name)
}

// outOfRange returns a number in v, which comes from a json.Decoder with
// UseNumber, that the schema library could not compare with a limit.
func outOfRange(v any) (json.Number, bool) {
	switch v := v.(type) {
	case json.Number:
		_, err := v.Float64()
		return v, err != nil
	case []any:
		for _, e := range v {
			if n, ok := outOfRange(e); ok {
				return n, true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if n, ok := outOfRange(v[key]); ok {
				return n, true
			}
		}
	}
	return "", false
}

// explain adds the leaves of a validation error to ps, in words.
func (d *document) explain(s *schema, e *jsonschema.ValidationError, whole any, ps *Problems) {
	keyword := e.KeywordLocation[strings.LastIndex(e.KeywordLocation, "/")+1:]
	if len(e.Causes) > 0 && keyword != "oneOf" {
		for _, c := range e.Causes {
			d.explain(s, c, whole, ps)
		}
		return
	}
	path := pointer(e.InstanceLocation, d)
	value := lookup(whole, path)
	rule := s.rule(e.AbsoluteKeywordLocation)
	want, _ := rule["description"].(string)
	switch keyword {
	case "additionalProperties":
		known, _ := rule["properties"].(map[string]any)
		got, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(got)) {
			if _, ok := known[key]; ok {
				continue
			}
			message := fmt.Sprintf("unknown key %q", key)
			if near := host.Nearest(key, slices.Sorted(maps.Keys(known))); near != "" {
				message += fmt.Sprintf("; did you mean %q?", near)
			}
			*ps = append(*ps, d.at(d.key(path, key), message))
		}
		return
	case "required":
		got, _ := value.(map[string]any)
		required, _ := rule["required"].([]any)
		for _, key := range required {
			if _, ok := got[fmt.Sprint(key)]; !ok {
				*ps = append(*ps, d.problem(path, "%q is missing", key))
			}
		}
		return
	case "type":
		message := e.Message
		if _, got, ok := strings.Cut(message, ", but got "); ok {
			message = fmt.Sprintf("want %s, found %s", article(rule["type"]), articled[got])
		}
		if want != "" {
			message += " (" + want + ")"
		}
		*ps = append(*ps, d.problem(path, "%s", message))
		return
	case "pattern":
		if want != "" {
			*ps = append(*ps, d.problem(path, "%q does not fit: want %s", value, want))
			return
		}
	case "enum":
		if options, ok := rule["enum"].([]any); ok {
			words := make([]string, len(options))
			for i, o := range options {
				words[i] = fmt.Sprint(o)
			}
			message := fmt.Sprintf("%q does not fit: want %s", fmt.Sprint(value), host.Either(words))
			*ps = append(*ps, d.problem(path, "%s", message))
			return
		}
	case "oneOf":
		*ps = append(*ps, d.problem(path, "%s does not fit: want %s", quoted(value), want))
		return
	case "uniqueItems":
		*ps = append(*ps, d.problem(path, "an entry stands here twice"))
		return
	}
	*ps = append(*ps, d.problem(path, "%s: %s", quoted(value), e.Message))
}

// quoted returns a scalar as the user wrote it, and anything else by its kind.
func quoted(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "this mapping"
	case []any:
		return "this list"
	}
	return fmt.Sprint(v)
}

var articled = map[string]string{
	"string": "a string", "integer": "a whole number", "number": "a number",
	"boolean": "true or false", "object": "a mapping", "array": "a list", "null": "nothing",
}

func article(kinds any) string {
	switch kinds := kinds.(type) {
	case string:
		return articled[kinds]
	case []any:
		words := make([]string, len(kinds))
		for i, k := range kinds {
			words[i] = articled[fmt.Sprint(k)]
		}
		return host.Either(words)
	}
	return "something else"
}

// rule returns the subschema that holds the keyword at location, such as
// file:///manifest.json#/definitions/name/pattern.
func (s *schema) rule(location string) map[string]any {
	_, ptr, _ := strings.Cut(location, "#")
	steps := strings.Split(strings.TrimPrefix(ptr, "/"), "/")
	var at any = s.raw
	for _, step := range steps[:len(steps)-1] {
		at = child(at, strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(step))
	}
	m, _ := at.(map[string]any)
	return m
}

func child(v any, step string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[step]
	case []any:
		for i := range v {
			if fmt.Sprint(i) == step {
				return v[i]
			}
		}
	}
	return nil
}

func lookup(v any, path []any) any {
	for _, step := range path {
		v = child(v, fmt.Sprint(step))
	}
	return v
}

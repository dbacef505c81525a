package gen

import (
	"bytes"
	_ "embed"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// schemas are derived from the types that are read and written, by the name
// `ccreload-gen schema` takes.
var schemas = map[string]*schema{
	"manifest":    derive(reflect.TypeFor[manifest]()),
	"plugin":      derive(reflect.TypeFor[pluginFileJSON]()),
	"hooks":       derive(reflect.TypeFor[hooksFileJSON]()),
	"host-hooks":  derive(reflect.TypeFor[hostHooksJSON]()),
	"marketplace": derive(reflect.TypeFor[marketFileJSON]()),
	"recording":   derive(reflect.TypeFor[recordedCall]()),
}

// Schemas returns the names of all schemas, sorted.
func Schemas() []string { return slices.Sorted(maps.Keys(schemas)) }

// Schema returns the text of a JSON schema. The error lists the names there are.
func Schema(name string) ([]byte, error) {
	s, ok := schemas[name]
	if !ok {
		return nil, problem.Input("the schemas are "+strings.Join(Schemas(), ", "), "there is no schema %q", name)
	}
	return encode(s.rule()), nil
}

// rule is a JSON schema, or a part of one.
type rule = map[string]any

// schema makes a JSON schema when it is first needed; most runs need few.
type schema struct{ rule func() rule }

func derive(t reflect.Type) *schema { return compile(func() rule { return ruleOf(t) }) }

// The pieces of the schemas that stand in files of their own as well.
var (
	handlerSchema = compile(func() rule { return fields()["run"] })
	serverSchema  = compile(func() rule {
		return part(ruleOf(reflect.TypeFor[pluginFileJSON]()), []string{"mcpServers", "name"})
	})
)

func compile(build func() rule) *schema {
	return &schema{rule: sync.OnceValue(func() rule {
		r := rule{"$schema": "http://json-schema.org/draft-07/schema#"}
		maps.Copy(r, build())
		return r
	})}
}

// fieldsJSON is what fields.yaml says, which takes far longer to read. `make fields`
// writes it.
//
//go:embed fields.json
var fieldsJSON []byte

var fields = sync.OnceValue(func() (f map[string]rule) {
	if err := json.Unmarshal(fieldsJSON, &f); err != nil {
		panic(err) // compiled in
	}
	return f
})

// ruleOf returns what a value of type t has to be.
func ruleOf(t reflect.Type) rule {
	switch t.Kind() {
	case reflect.Pointer:
		return ruleOf(t.Elem())
	case reflect.String:
		return rule{"type": "string"}
	case reflect.Bool:
		return rule{"type": "boolean"}
	case reflect.Int:
		return rule{"type": "integer"}
	case reflect.Float64:
		return rule{"type": "number"}
	case reflect.Slice:
		return rule{"type": "array", "items": ruleOf(t.Elem())}
	case reflect.Map:
		return rule{"type": "object", "additionalProperties": ruleOf(t.Elem())}
	case reflect.Struct:
		return objectOf(t)
	}
	return rule{} // anything
}

// objectOf returns the rule of a struct: its keys, which of them must be there,
// and what fields.yaml says of each.
func objectOf(t reflect.Type) rule {
	properties, required := rule{}, []any{}
	for _, f := range reflect.VisibleFields(t) {
		key, flags := keyOf(f)
		if key == "" {
			continue
		}
		r := ruleOf(f.Type)
		more, ok := fields()[t.Name()+"."+key]
		if !ok {
			more = fields()[key]
		}
		maps.Copy(r, more)
		properties[key] = r
		if flags != "omitempty" {
			required = append(required, key)
		}
	}
	r := rule{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
	for key, value := range fields()[t.Name()] {
		if key != "more" {
			r[key] = value
			continue
		}
		for key, value := range value.(rule) {
			if properties[key] == nil {
				properties[key] = value
			}
		}
	}
	return r
}

// keyOf returns what a field of a struct is called in a file, and its flags; no key
// where it is embedded or not there.
func keyOf(f reflect.StructField) (key, flags string) {
	tag, ok := f.Tag.Lookup("yaml")
	if !ok {
		tag = f.Tag.Get("json")
	}
	key, flags, _ = strings.Cut(tag, ",")
	return key, flags
}

// fill sets into to v, which conforms to the rule of its type.
func fill(into reflect.Value, v any) {
	from, t := reflect.ValueOf(v), into.Type()
	switch {
	case v == nil:
	case from.CanConvert(t):
		into.Set(from.Convert(t))
	case t.Kind() == reflect.Pointer:
		into.Set(reflect.New(t.Elem()))
		fill(into.Elem(), v)
	case t.Kind() == reflect.Slice:
		into.Set(reflect.MakeSlice(t, from.Len(), from.Len()))
		for i, inner := range v.([]any) {
			fill(into.Index(i), inner)
		}
	case t.Kind() == reflect.Map:
		into.Set(reflect.MakeMap(t))
		for key, inner := range v.(map[string]any) {
			value := reflect.New(t.Elem()).Elem()
			fill(value, inner)
			into.SetMapIndex(reflect.ValueOf(key), value)
		}
	case from.Kind() == reflect.String:
		_ = into.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(v.(string))) // it conforms
	default:
		all := v.(map[string]any)
		for i := range t.NumField() {
			if f := t.Field(i); f.Anonymous {
				fill(into.Field(i), v)
			} else if key, _ := keyOf(f); key != "" {
				fill(into.Field(i), all[key])
			}
		}
	}
}

// conform reports everything in the document that the schema refuses.
func (d *document) conform(name string) Problems {
	v, err := d.value()
	if err != nil {
		return problems(err)
	}
	return d.conformAt("", v, schemas[name])
}

// conformAt reports everything in v, the value at a path of the document, that
// the schema refuses.
func (d *document) conformAt(path string, v any, s *schema) Problems {
	return d.explain(path, s.rule(), violations(s.rule(), v))
}

// conformJSON reports what the schema refuses in a JSON file. Places are
// looked up only when there is something to report: parsing JSON as YAML is
// far slower than parsing JSON.
func conformJSON(file string, data []byte, name string) Problems {
	var v any
	err := json.Unmarshal(data, &v)
	return conformValue(file, data, v, err, name)
}

// conformValue is conformJSON for what encoding/json has made of data.
func conformValue(file string, data []byte, v any, err error, name string) Problems {
	if err != nil {
		return notJSON(file, data, err)
	}
	if conforms(schemas[name].rule(), v) {
		return nil
	}
	d, err := parse(file, data)
	if err != nil {
		return problems(err)
	}
	return d.conform(name)
}

// notJSON says why data is not JSON, which err says as well, and where.
func notJSON(file string, data []byte, err error) Problems {
	if _, err := decodeText(file, data); err != nil {
		return problems(err)
	}
	f := finding{File: file, Message: "not valid JSON: " + rewordedJSON(err.Error())}
	if len(bytes.TrimSpace(data)) == 0 {
		f.Message = "not valid JSON: the file is empty"
	}
	if rest := withoutMark(data); len(rest) < len(data) && json.Valid(rest) {
		f.Message = "the file begins with a byte order mark, which the host takes for no JSON: save it as UTF-8 without one"
	}
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		f.Message = bad.Value + " is not a valid number: too large" // all else fits in an any
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := data[:max(bad.Offset-1, 0)]
		f.Line = 1 + bytes.Count(before, []byte("\n"))
		start := 1 + bytes.LastIndexByte(before, '\n')
		f.Column = 1 + len([]rune(string(before[start:])))
		line, _, _ := bytes.Cut(data[start:], []byte("\n"))
		f.Source = string(line)
	}
	return Problems{f}
}

// jsonWordings say of what encoding/json has found what would be right.
var jsonWordings = []struct{ theirs, ours string }{
	{`^unexpected end of JSON input$`, "the file ends before what it begins does: a bracket or a quote is missing"},
	{`^invalid character '(.+)' looking for beginning of value$`, "want a value, found $1"},
	{`^invalid character '}' looking for beginning of object key string$`, "want another key, found }: is the comma before it one too many?"},
	{`^invalid character '(.+)' looking for beginning of object key string$`, "want a key in double quotes, found $1"},
	{`^invalid character '(.+)' after object key$`, "want a colon behind the key, found $1"},
	{`^invalid character '(.+)' after object key:value pair$`, "want a comma or } behind the value, found $1"},
	{`^invalid character '(.+)' after array element$`, "want a comma or ] behind the value, found $1"},
	{`^invalid character '(.+)' after top-level value$`, "something stands behind the end, $1"},
	{`^invalid character '(.+)' in string literal$`, `text in quotes goes on in the next line or has a control character, $1: write it as an escape, such as \n`},
	{`^invalid character '(.+)' in string escape code$`, `the escape \$1 means nothing: a backslash is written \\`},
}

func rewordedJSON(message string) string {
	for _, w := range jsonWordings {
		if re := compiled(w.theirs); re.MatchString(message) {
			return re.ReplaceAllString(message, w.ours)
		}
	}
	return message
}

// refusesKeys matches the places of objects in which the host refuses a key that
// it does not know; elsewhere it passes over it.
var refusesKeys = regexp.MustCompile(`/(userConfig|lspServers)/[^/]+$|/lspServers/[0-9]+/[^/]+$|/(channels|monitors)/[0-9]+$`)

// passedOver reports whether the host passes over what v is about: of some keys
// the wrong type, of others everything below.
func passedOver(whole rule, v violation) bool {
	for i := range v.at {
		switch part(whole, v.at[:i+1])["x-passed-over"] {
		case "all":
			return true
		case "type":
			return v.what == "type" && i == len(v.at)-1
		}
	}
	return false
}

// part returns the part of r that a value at path has to follow.
func part(r rule, path []string) rule {
	for _, key := range path {
		r = below(r, key)
	}
	return r
}

// below returns the part of r that what is below a key or an index has to follow.
func below(r rule, key string) rule {
	if r == nil {
		return nil
	}
	properties, _ := r["properties"].(rule)
	next, ok := properties[key].(rule)
	if _, err := strconv.Atoi(key); err == nil && !ok {
		next, ok = r["items"].(rule)
	}
	if !ok {
		next, ok = r["additionalProperties"].(rule)
	}
	if then, _ := r["then"].(rule); !ok {
		return below(then, key)
	}
	return next
}

// articled are the types of JSON as people say them.
var articled = map[string]string{
	"string": "a string", "integer": "a whole number", "number": "a number",
	"boolean": "true or false", "object": "a mapping", "array": "a list", "null": "nothing",
}

// wherever returns the end of a sentence about a key that is not among the known ones
// of an object: where it goes, or what it was meant to be.
func wherever(whole, known rule, key string) string {
	names := slices.Sorted(maps.Keys(known))
	near := host.Nearest(key, names)
	if near == key+"s" || near+"s" == key {
		return didYouMean(key, names)
	}
	if hint := goesInto(known, key); hint != "" {
		return hint
	}
	if near == "" {
		if hint := goesInto(rule{"": whole}, key); hint != "" {
			return hint
		}
		if hint := likeBelow(known, key); hint != "" {
			return hint
		}
	}
	return didYouMean(key, names)
}

// maxPlaces is how many places a sentence has at most.
const maxPlaces = 3

// goesInto returns the end of a sentence about a key that the known keys have below
// them: the places that are the least deep.
func goesInto(known rule, key string) string {
	places := placesOf(known, key)
	switch {
	case len(places) == 0 || len(places) > maxPlaces:
		return ""
	case places[0] == "":
		return "; it goes to the top of the manifest"
	}
	return "; it goes into " + host.Either(places)
}

// placesOf returns what a key can stand in, in words.
func placesOf(known rule, key string) (places []string) {
	type level struct {
		name, words string
		rule        rule
	}
	var levels []level
	add := func(known rule, around string) {
		for _, name := range slices.Sorted(maps.Keys(known)) {
			r, _ := known[name].(rule)
			words := "`" + name + ":`"
			if items, ok := r["items"].(rule); ok {
				r, words = items, "an entry of "+words
			}
			if name == "" {
				words = ""
			} else if around != "" {
				words += " of " + around
			}
			levels = append(levels, level{name, words, r})
		}
	}
	add(known, "")
	for depth := 0; depth < 3 && len(places) == 0; depth++ {
		now := levels
		levels = nil
		for _, l := range now {
			inner, _ := l.rule["properties"].(rule)
			if inner[key] != nil {
				places = append(places, l.words)
			}
			add(inner, l.words)
		}
	}
	return places
}

// likeBelow returns the end of a sentence about a key that is like one which the known
// keys have below them.
func likeBelow(known rule, key string) string {
	for _, name := range slices.Sorted(maps.Keys(known)) {
		r, _ := known[name].(rule)
		inner, _ := r["properties"].(rule)
		if near := host.Nearest(key, slices.Sorted(maps.Keys(inner))); near != "" {
			return fmt.Sprintf("; did you mean %q, which goes into `%s:`?", near, name)
		}
	}
	return ""
}

// didYouMean returns the end of a sentence about an unknown word: the nearest
// of the known ones, if one is near.
func didYouMean(word string, known []string) string {
	if near := host.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

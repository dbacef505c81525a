package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// fields.json is what fields.yaml says; `make fields` writes it.
func TestFieldsJSON(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("fields.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]rule
	if err := yaml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "pieces") // anchors only
	// A line each, so that a change shows.
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value, err := json.Marshal(all[key])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%q: %s", key, value))
	}
	want := []byte("{\n" + strings.Join(lines, ",\n") + "\n}\n")
	if *update {
		if err := os.WriteFile("fields.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(fieldsJSON, want) {
		t.Error("fields.json is not what fields.yaml says: run `make fields`")
	}
}

// events.json is what manifest.yaml says; `make fields` writes it.
func TestEventsJSON(t *testing.T) {
	t.Parallel()
	data, err := source.ReadFile("manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := decode(ManifestPath, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	declared := events{}
	for _, p := range m.Plugins {
		for _, h := range p.Hooks {
			declared[p.Name] = append(declared[p.Name], h.Event)
		}
	}
	want := encode(declared)
	if *update {
		if err := os.WriteFile("events.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(eventsJSON, want) {
		t.Error("events.json is not what manifest.yaml says: run `make fields`")
	}
}

// Whatever the schemas ask for is looked at, and every pattern can be read.
func TestRulesAreKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"x-passed-over": true, "more": true}
	for _, word := range []string{
		"$schema", "title", "description", "default",
		"type", "const", "enum", "minProperties", "required", "properties", "additionalProperties", "propertyNames",
		"minItems", "uniqueItems", "items", "contains", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
		"not", "allOf", "anyOf", "oneOf", "if", "then", "else",
	} {
		known[word] = true
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				visit(item)
			}
		case rule:
			for word, value := range v {
				if !known[word] {
					t.Errorf("nobody looks at %q", word)
				}
				switch word {
				case "properties":
					inner, _ := value.(rule)
					for _, r := range inner {
						visit(r)
					}
				case "pattern":
					regexp.MustCompile(value.(string))
				case "const", "enum", "default", "required":
				default:
					visit(value)
				}
			}
		}
	}
	for name, s := range schemas {
		var r any
		if err := json.Unmarshal(encode(s.rule()), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		visit(r)
	}
}

// Rules are held as JSON Schema has it.
func TestConforms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule      string
		fits, not []string
	}{
		{`{"type": ["string", "integer"]}`, []string{`"a"`, `1`, `1.0`}, []string{`1.5`, `null`, `[]`, `{}`, `true`}},
		{`{"const": 1}`, []string{`1`, `1.0`}, []string{`"1"`, `2`}},
		{`{"enum": ["a", null, [1]]}`, []string{`"a"`, `null`, `[1]`}, []string{`"b"`, `[2]`}},
		{`{"required": ["a"], "properties": {"a": {"type": "string"}}, "additionalProperties": false}`, []string{`{"a": "x"}`, `1`}, []string{`{}`, `{"a": 1}`, `{"a": "", "b": 1}`}},
		{`{"additionalProperties": {"type": "string"}, "minProperties": 1, "propertyNames": {"pattern": "^a"}}`, []string{`{"a": ""}`}, []string{`{}`, `{"a": 1}`, `{"b": ""}`}},
		{`{"items": {"type": "string"}, "minItems": 1, "uniqueItems": true}`, []string{`["a"]`, `"a"`}, []string{`[]`, `[1]`, `["a", "a"]`}},
		{`{"contains": {"const": 1}}`, []string{`[0, 1]`}, []string{`[]`, `[0]`}},
		{`{"minLength": 2, "maxLength": 3}`, []string{`"éé"`, `"abc"`, `1`}, []string{`"é"`, `"abcd"`}},
		{`{"minimum": 1, "maximum": 2}`, []string{`1`, `2`, `"0"`}, []string{`0.9`, `2.1`}},
		{`{"exclusiveMinimum": 0}`, []string{`0.1`}, []string{`0`}},
		{`{"not": {"type": "string"}}`, []string{`1`}, []string{`""`}},
		{`{"allOf": [{"minimum": 1}, {"maximum": 2}]}`, []string{`1`}, []string{`0`, `3`}},
		{`{"anyOf": [{"const": 1}, {"minimum": 1}]}`, []string{`1`, `2`}, []string{`0`}},
		{`{"oneOf": [{"const": 1}, {"minimum": 1}]}`, []string{`2`}, []string{`0`, `1`}},
		{`{"if": {"const": 1}, "then": {"type": "string"}, "else": {"type": "number"}}`, []string{`2`}, []string{`1`, `"a"`}},
	} {
		var r rule
		if err := json.Unmarshal([]byte(tt.rule), &r); err != nil {
			t.Fatal(err)
		}
		for want, values := range map[bool][]string{true: tt.fits, false: tt.not} {
			for _, text := range values {
				var v any
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					t.Fatal(err)
				}
				if conforms(r, v) != want {
					t.Errorf("%s and %s: %v", tt.rule, text, !want)
				}
			}
		}
	}
}

// Whatever is refused with "want", says what is wanted.
func TestFieldsSayWhatTheyWant(t *testing.T) {
	t.Parallel()
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s/%d", at, i), inner)
			}
		case map[string]any:
			for key, inner := range v {
				walk(at+"/"+key, inner)
			}
			for _, what := range []string{"pattern", "oneOf", "minItems"} {
				if text, _ := v["description"].(string); v[what] != nil && text == "" && !strings.HasSuffix(at, "/properties") && !strings.Contains(at, "/not") && !strings.Contains(at, "/if") {
					t.Errorf("%s has a %s and no description", at, what)
				}
			}
		}
	}
	for _, name := range Schemas() {
		walk(name, schemas[name].rule())
	}
}

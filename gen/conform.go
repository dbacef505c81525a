package gen

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"

	"github.com/ccreload/ccreload/internal/host"
)

// violation is one thing a rule has against a value.
type violation struct {
	at   []string // the way to the value
	what string   // the keyword of JSON Schema that does not hold
	got  any
	want any
	keys []string // missing or unknown
}

// violations returns what r has against v, in no order. Of JSON Schema (draft 7) it knows what
// our rules use, which a test holds; starting a library that knows all of it would
// take longer than a run.
func violations(r rule, v any) []violation {
	c := conformer{}
	c.check(r, v, make([]string, 0, 8)) // grows once for all values
	return c.found
}

// conforms reports whether r has nothing against v.
func conforms(r rule, v any) bool {
	c := conformer{}
	c.check(r, v, nil)
	return c.found == nil
}

type conformer struct{ found []violation }

func (c *conformer) add(at []string, what string, got, want any, keys ...string) {
	c.found = append(c.found, violation{slices.Clone(at), what, got, want, keys})
}

// check adds what r has against v, the value at the end of the way at.
func (c *conformer) check(r rule, v any, at []string) {
	if t := r["type"]; t != nil && !isOf(v, t) {
		c.add(at, "type", v, listOf(t))
		return
	}
	if want, ok := r["const"]; ok && !equal(v, want) {
		c.add(at, "const", v, want)
		return
	}
	if words := listOf(r["enum"]); words != nil && !slices.ContainsFunc(words, func(w any) bool { return equal(v, w) }) {
		c.add(at, "enum", v, words)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(r, v, at)
	case []any:
		c.list(r, v, at)
	case string:
		c.text(r, v, at)
	default:
		if n, ok := number(v); ok {
			c.number(r, n, at)
		}
	}
	c.combined(r, v, at)
}

func (c *conformer) object(r rule, v map[string]any, at []string) {
	if least, ok := number(r["minProperties"]); ok && float64(len(v)) < least {
		c.add(at, "minProperties", len(v), least)
	}
	var missing, unknown []string
	for _, key := range listOf(r["required"]) {
		if _, ok := v[key.(string)]; !ok {
			missing = append(missing, key.(string))
		}
	}
	if len(missing) > 0 {
		c.add(at, "required", v, nil, missing...)
	}
	properties, _ := r["properties"].(rule)
	names, named := r["propertyNames"].(rule)
	for key, value := range v {
		if inner, ok := properties[key].(rule); ok {
			c.check(inner, value, append(at, key))
		} else if other, ok := r["additionalProperties"].(rule); ok {
			c.check(other, value, append(at, key))
		} else if r["additionalProperties"] == false {
			unknown = append(unknown, key)
		}
		if named && !conforms(names, key) {
			c.add(at, "propertyNames", key, names["description"])
		}
	}
	if len(unknown) > 0 {
		c.add(at, "additionalProperties", nil, nil, unknown...)
	}
}

func (c *conformer) list(r rule, v []any, at []string) {
	if least, ok := number(r["minItems"]); ok && float64(len(v)) < least {
		c.add(at, "minItems", len(v), least)
	}
	if r["uniqueItems"] == true {
		for i := range v {
			if j := slices.IndexFunc(v[:i], func(w any) bool { return equal(v[i], w) }); j >= 0 {
				c.add(at, "uniqueItems", i, nil)
				break
			}
		}
	}
	if items, ok := r["items"].(rule); ok {
		for i := range v {
			c.check(items, v[i], append(at, strconv.Itoa(i)))
		}
	}
	if one, ok := r["contains"].(rule); ok && !slices.ContainsFunc(v, func(item any) bool { return conforms(one, item) }) {
		c.add(at, "contains", nil, nil)
	}
}

func (c *conformer) text(r rule, v string, at []string) {
	if least, ok := number(r["minLength"]); ok && float64(utf8.RuneCountInString(v)) < least {
		c.add(at, "minLength", v, least)
	}
	if most, ok := number(r["maxLength"]); ok && float64(utf8.RuneCountInString(v)) > most {
		c.add(at, "maxLength", v, most)
	}
	if pattern, ok := r["pattern"].(string); ok && !compiled(pattern).MatchString(v) {
		c.add(at, "pattern", v, pattern)
	}
}

func (c *conformer) number(r rule, v float64, at []string) {
	if least, ok := number(r["minimum"]); ok && v < least {
		c.add(at, "minimum", v, least)
	}
	if most, ok := number(r["maximum"]); ok && v > most {
		c.add(at, "maximum", v, most)
	}
	if least, ok := number(r["exclusiveMinimum"]); ok && v <= least {
		c.add(at, "exclusiveMinimum", v, least)
	}
}

// combined adds what the rules in r have against v.
func (c *conformer) combined(r rule, v any, at []string) {
	if inner, ok := r["not"].(rule); ok && conforms(inner, v) {
		c.add(at, "not", v, nil)
	}
	for _, inner := range listOf(r["allOf"]) {
		c.check(inner.(rule), v, at)
	}
	fits := func(list []any) (n int) {
		for _, inner := range list {
			if conforms(inner.(rule), v) {
				n++
			}
		}
		return n
	}
	if some := listOf(r["anyOf"]); some != nil && fits(some) == 0 {
		c.add(at, "anyOf", v, nil)
	}
	if one := listOf(r["oneOf"]); one != nil && fits(one) != 1 {
		c.add(at, "oneOf", v, nil)
	}
	if inner, ok := r["if"].(rule); ok {
		branch := "then"
		if !conforms(inner, v) {
			branch = "else"
		}
		if next, ok := r[branch].(rule); ok {
			c.check(next, v, at)
		}
	}
}

// patterns are those that have been needed.
var patterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	re, ok := patterns.Load(pattern)
	if !ok {
		re, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return re.(*regexp.Regexp)
}

// listOf returns a value of a rule as a list: that of one, where it is none.
func listOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	}
	return []any{v}
}

// typeOf returns what JSON calls the type of v.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

// isOf reports whether v has a type, or one of a list of types.
func isOf(v, t any) bool {
	switch t := t.(type) {
	case []any:
		return slices.ContainsFunc(t, func(one any) bool { return isOf(v, one) })
	case string:
		if n, ok := number(v); ok && t == "integer" {
			return n == float64(int64(n))
		}
		return typeOf(v) == t
	}
	return false
}

// number returns the value of a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

// equal compares JSON values, numbers whatever Go has them in.
func equal(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	return reflect.DeepEqual(a, b)
}

// explain puts violations of the value at base into words.
func (d *document) explain(base string, whole rule, found []violation) (ps Problems) {
	for _, v := range found {
		path := base + strings.Join(append([]string{""}, v.at...), "/")
		r := part(whole, v.at)
		want, _ := r["description"].(string)
		note := ""
		if want != "" {
			note = " (" + want + ")"
		}
		first := len(ps)
		report := func(path, format string, args ...any) { ps = append(ps, d.problem(path, format, args...)) }
		switch v.what {
		case "additionalProperties":
			known, _ := r["properties"].(rule)
			for _, key := range v.keys {
				hint := wherever(whole, known, key)
				report(path+"/"+key+keySuffix, "unknown key %q%s", key, hint)
				ps[len(ps)-1].ignored = r["additionalProperties"] == false && !refusesKeys.MatchString(path)
			}
		case "required":
			all, _ := v.got.(map[string]any)
			for _, key := range v.keys {
				if near := misspelt(key, all, r); near != "" {
					report(path+"/"+near+keySuffix, "%q is missing; is it meant by %q?", key, near)
				} else {
					report(path, "%q is missing", key)
				}
			}
		case "propertyNames":
			report(fmt.Sprintf("%s/%s%s", path, v.got, keySuffix), "%q does not fit: want %s", v.got, v.want)
		case "type":
			words := make([]string, 0, 3)
			for _, w := range v.want.([]any) {
				words = append(words, articled[w.(string)])
			}
			found := articled[typeOf(v.got)]
			if n, ok := v.got.(string); ok && d.isNumber(path) {
				found = "one that is too large, " + n
			}
			if t := d.place(path); t != nil && !nested(v.got) && v.got != nil && note == "" && conforms(r, t.Value) {
				found += "; put it into quotes"
			}
			report(path, "want %s, found %s%s", host.Either(words), found, note)
		case "pattern":
			report(path, "%q does not fit: want %s", v.got, want)
		case "enum":
			words := make([]string, 0, 8)
			for _, w := range v.want.([]any) {
				words = append(words, fmt.Sprint(w))
			}
			report(path, "%q does not fit: want %s", fmt.Sprint(v.got), host.Either(words))
		case "uniqueItems":
			report(fmt.Sprintf("%s/%d", path, v.got), "duplicate entry")
		case "minimum":
			report(path, "%s is too small: want at least %s%s", digits(v.got, 0), digits(v.want, -1), note)
		case "maximum":
			report(path, "%s is too large: want at most %s%s", digits(v.got, 0), digits(v.want, -1), note)
		case "exclusiveMinimum":
			report(path, "%s is too small: want more than %s%s", digits(v.got, -1), digits(v.want, -1), note)
		case "maxLength":
			report(path, "this text has %d characters: want at most %s%s", utf8.RuneCountInString(v.got.(string)), digits(v.want, -1), note)
		case "oneOf", "minItems":
			report(path, "this value does not fit: want %s", want)
		case "minLength":
			report(path, "this text is empty%s", note)
		case "minProperties":
			report(path, "this mapping is empty%s", note)
		default:
			report(path, "this value does not fit%s", note)
		}
		if passedOver(whole, v) {
			for i := range ps[first:] {
				ps[first+i].ignored = true
			}
		}
	}
	return ps
}

// misspelt returns a key of all, which r does not know and passes over, that looks
// like one that is missing.
func misspelt(key string, all map[string]any, r rule) string {
	known, _ := r["properties"].(rule)
	if r["additionalProperties"] == false {
		return "" // it is told what is unknown
	}
	var unknown []string
	for have := range all {
		if known[have] == nil {
			unknown = append(unknown, have)
		}
	}
	slices.Sort(unknown)
	return host.Nearest(key, unknown)
}

// isNumber reports whether what stands at path is written as a number, which the
// library takes for text where no type of Go holds it.
func (d *document) isNumber(path string) bool {
	t := d.place(path)
	return t != nil && t.Type == token.StringType && compiled(`^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$`).MatchString(t.Value)
}

func digits(n any, precision int) string { return strconv.FormatFloat(n.(float64), 'f', precision, 64) }

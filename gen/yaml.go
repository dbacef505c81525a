package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// mapping is a YAML mapping whose keys keep their order.
type mapping []field

type field struct {
	key   string
	value any
}

// add appends key unless value is nothing to write.
func (m *mapping) add(key string, value any) {
	switch v := value.(type) {
	case nil:
		return
	case string:
		if v == "" {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	case map[string]any:
		if len(v) == 0 {
			return
		}
	case mapping:
		if len(v) == 0 {
			return
		}
	}
	*m = append(*m, field{key, value})
}

// writeYAML writes v, what encoding/json decodes to or a mapping, below a key or
// a dash that stands at indent. Text that YAML could read as anything else is
// written as JSON, which YAML takes.
func writeYAML(b *bytes.Buffer, v any, indent string) {
	switch v := v.(type) {
	case map[string]any:
		var m mapping
		for _, key := range slices.Sorted(maps.Keys(v)) {
			m = append(m, field{key, v[key]})
		}
		writeYAML(b, m, indent)
	case mapping:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteString("\n")
		for _, f := range v {
			b.WriteString(indent + yamlScalar(f.key) + ":")
			writeYAML(b, f.value, indent+"  ")
		}
	case []any:
		if !slices.ContainsFunc(v, nested) {
			words := make([]string, len(v))
			for i, item := range v {
				words[i] = yamlScalar(item)
			}
			b.WriteString(" [" + strings.Join(words, ", ") + "]\n")
			return
		}
		b.WriteString("\n")
		for _, item := range v {
			var entry bytes.Buffer
			writeYAML(&entry, item, indent+"  ")
			// The first key of a mapping stands behind its dash.
			text := strings.TrimPrefix(entry.String(), "\n"+indent+"  ")
			b.WriteString(indent + "- " + strings.TrimPrefix(text, " "))
		}
	default:
		b.WriteString(" " + yamlScalar(v) + "\n")
	}
}

func nested(v any) bool {
	switch v.(type) {
	case map[string]any, mapping, []any:
		return true
	}
	return false
}

// plain is text that means itself in YAML, whatever stands around it.
var plain = regexp.MustCompile(`^[A-Za-z./_]([A-Za-z0-9 ./_@+-]*[A-Za-z0-9./_@+-])?$`)

func yamlScalar(v any) string {
	if s, ok := v.(string); ok && plain.MatchString(s) && !strings.HasPrefix(s, "---") {
		switch strings.ToLower(s) {
		case "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "...":
		default:
			return s
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("%v: %v", v, err)) // decoded from JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

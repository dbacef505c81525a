package fakeapi

import (
	"maps"
	"os"
	"path"

	"github.com/goccy/go-yaml"
)

// Verdict is a plugin or a marketplace, and whether the client's own `plugin
// validate` refuses it.
type Verdict struct {
	Name    string
	Files   map[string]string // by slash-separated path
	Refused bool
	Older   bool // Refused, as the oldest client that is tested sees it
}

// Verdicts reads testdata/verdicts.yaml. Our own validate is held to it, and the
// client.
func Verdicts(file string) ([]Verdict, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var written struct {
		Base, Market map[string]string
		Rows         []struct {
			Name    string
			Market  bool
			Refused bool
			Older   *bool
			Files   map[string]string
		}
	}
	if err := yaml.UnmarshalWithOptions(data, &written, yaml.Strict()); err != nil {
		return nil, err
	}
	out := make([]Verdict, len(written.Rows))
	for i, row := range written.Rows {
		v := Verdict{Name: row.Name, Files: map[string]string{}, Refused: row.Refused, Older: row.Refused}
		if row.Older != nil {
			v.Older = *row.Older
		}
		for name, text := range written.Base {
			if row.Market {
				name = path.Join("tools", name)
			}
			v.Files[name] = text
		}
		if row.Market {
			maps.Copy(v.Files, written.Market)
		}
		maps.Copy(v.Files, row.Files)
		maps.DeleteFunc(v.Files, func(_, text string) bool { return text == "-" })
		out[i] = v
	}
	return out, nil
}

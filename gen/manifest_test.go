package gen

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/ccreload/ccreload/internal/host"
)

// The stock manifest is what its table and its page say.
func TestStockManifest(t *testing.T) {
	t.Parallel()
	data, err := source.ReadFile("manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := decode(ManifestPath, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := m.plugin("cc-reload")
	if !ok {
		t.Fatal("there is no cc-reload")
	}
	profile := m.profile(p)
	for key, want := range map[string]string{
		"context_budget_pct": "45", "context_budget_mode": "notify", "context_budget_tokens": "off",
		"context_window": "", "context_owner_window": "14400", "headless": "off",
	} {
		if o, ok := profile.Option(key); !ok || o.Default != want || !o.HasScope(host.ScopeProject) {
			t.Errorf("%s is %+v, want the default %q and the scope project", key, o, want)
		}
	}
	for _, w := range m.Windows {
		if !slices.Contains([]int{128_000, 200_000, 1_000_000}, w.Tokens) {
			t.Errorf("%s has a window of %d tokens", w.Model, w.Tokens)
		}
	}
	// Every listed model of the host's own maker is priced, and cache prices keep their proportions:
	// writing costs 1.25 and 2 times the input, reading a tenth at most.
	for _, w := range m.Windows {
		priced := !strings.HasPrefix(w.Model, "claude-")
		for _, p := range m.Prices {
			priced = priced || p.Model == w.Model
		}
		if !priced {
			t.Errorf("%s has a window and no price", w.Model)
		}
	}
	for _, p := range m.Prices {
		rates := []host.Rates{p.Rates}
		if p.LongPrompt != nil {
			rates = append(rates, p.LongPrompt.Rates)
		}
		for _, r := range rates {
			if r.CacheWrite5m < 1.19*r.Input || r.CacheWrite5m > 1.26*r.Input || r.CacheWrite1h != 2*r.Input || r.CacheRead > 0.121*r.Input || r.Output != 5*r.Input {
				t.Errorf("%s has odd prices: %+v", p.Model, r)
			}
		}
	}
}

// The runtime is told the prices, all of them, by the plugins that ask for them.
func TestPricesGoToWhoAsks(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(strings.Replace(small, "title: second\n", "title: second\n    prices: true\n", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, len(m.Prices)} {
		profile, err := host.DecodeProfile(encode(m.profile(&m.Plugins[i])))
		if err != nil {
			t.Fatal(err)
		}
		if got := profile.PriceTable(); len(got) != want || want > 0 && !reflect.DeepEqual(got, m.Prices) {
			t.Errorf("%s is told %+v", m.Plugins[i].Name, got)
		}
	}
}

// Each row changes one thing in small and says what the error must contain:
// the place, the sentence and the offending line.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, new, want string }{
		"unknown key":             {"    keywords: [one]", "    keyword: [one]", "gen/manifest.yaml:20:5: unknown key \"keyword\"; did you mean \"keywords\"?\n   20 |     keyword: [one]\n      |     ^"},
		"unknown key, nested":     {"min: 1000", "mon: 1000", "gen/manifest.yaml:51:9: unknown key \"mon\"; did you mean \"min\"?"},
		"unknown key, like none":  {"    keywords: [one]", "    zzzzzzzzz: 1", `20:5: unknown key "zzzzzzzzz"` + "\n"},
		"missing key":             {"license: MIT\n", "", `1:1: "license" is missing`},
		"missing key, nested":     {"        title: Note\n", "", `55:9: "title" is missing`},
		"wrong type":              {"min: 0", "min: none", `29:14: want a whole number, found a string`},
		"wrong type, described":   {`default: "45"`, "default: 45", `28:18: want a string, found a number (the value in quotes, such as "45"; "" when it is not set)`},
		"list for a text":         {"title: second", "title: [second]", `want a string, found a list`},
		"fraction":                {"timeout: 60", "timeout: 1.5", `want a whole number`},
		"out of range":            {"tokens: 1000000", "tokens: 10", `13:38: 10 is too small: want at least 1000 (tokens)`},
		"bad version":             {"version: 1.2.3", `version: "1.2"`, `2:10: "1.2" does not fit: want a version of three numbers`},
		"bad host version":        {"2.1.163", "v2", `want a version of three numbers`},
		"bad repository":          {"https://github.com/someone/tools", "git@github.com:someone/tools", "4:13: \"git@github.com:someone/tools\" does not fit: want the address of a repository"},
		"license of no id":        {"license: MIT", "license: /etc", `5:10: "/etc" does not fit: want an SPDX id`},
		"bad name":                {"name: first", "name: First One", `want a name of letters, digits, hyphens, _ and ., which begins with a letter or digit`},
		"icon of another kind":    {"icon: icon.png", "icon: icon.svg", `"icon.svg" does not fit: want a PNG below content/PLUGIN`},
		"icon outside":            {"icon: icon.png", "icon: ../icon.png", `22:11: "../icon.png" leads out of the plugin's content directory`},
		"bad platform":            {"linux/amd64", "linux/386", `11:13: "linux/386" does not fit`},
		"platform twice":          {"windows/amd64]", "linux/amd64]", `11:26: duplicate entry`},
		"unknown kind":            {"kind: int|off", "kind: float", `27:15: "float" does not fit: want int, int|off, choice, bool or text`},
		"unknown scope":           {"scopes: [user, project]", "scopes: [team]", `31:18: "team" does not fit: want user, project or app`},
		"no scope":                {"scopes: [user, project]", "scopes: []", `31:17: this value does not fit: want at least one scope, and none twice`},
		"command, no description": {`        description: "Go: now"` + "\n", "", `"description" is missing`},
		"description of nothing":  {`description: "Go: now"`, `description: ""`, `"" does not fit: want one line of text, not empty`},
		"description of 2 lines":  {`description: "Go: now"`, `description: "Go\nnow"`, `want one line of text`},
		"hooks of a file (F20)":   {"    hooks:\n      - {event: Stop, timeout: 10}\n", "    hooks: ./hooks.json\n", `want a list, found a string (a list of hooks; the file hooks/hooks.json is generated from it)`},
		"plugin twice":            {"name: second\n    title", "name: first\n    title", `74:11: duplicate plugin "first"`},
		"option twice":            {"key: note", "key: mode", `55:14: duplicate option "mode"`},
		"model twice":             {"windows:\n", "windows:\n  - {model: claude-opus-5-5, tokens: 200000}\n", `14:13: duplicate model "claude-opus-5-5"`},
		"price twice":             {"prices:\n", "prices:\n  - {model: claude-opus-5-5, input: 9, output: 9, cache-write-5m: 9, cache-write-1h: 9, cache-read: 9}\n", "duplicate model \"claude-opus-5-5\": a second price needs a `from:` of its own"},
		"price of no day":         {"{model: claude-opus-5-5, input", "{model: claude-opus-5-5, from: 2026-02-30, input", `15:36: "2026-02-30" is no day of the calendar`},
		"price of half a day":     {"{model: claude-opus-5-5, input", "{model: claude-opus-5-5, from: 2026, input", `15:36: want a string, found a number`},
		"default below":           {"min: 0\n", "min: 50\n", "28:18: the default does not fit: budget is \"45\"; it takes a whole number from 50 to 95, or off\n   28 |         default: \"45\""},
		"default above":           {`default: "45"`, `default: "96"`, `28:18: the default does not fit`},
		"default no choice":       {"default: calm", "default: soft", `the default does not fit: mode is "soft"; it takes calm or loud`},
		"default by its alias":    {"default: calm", "default: noisy", `the default "noisy" is written "loud"`},
		"choice without choices":  {"        choices: [calm, loud]\n        aliases: {noisy: loud}\n", "", `the option "mode" is a choice and lists no choices`},
		"choices of a number":     {"        min: 1000\n", "        choices: [a, b]\n", `lists choices, which only the kind choice takes`},
		"bounds of a word":        {"        choices: [calm, loud]\n", "        choices: [calm, loud]\n        min: 2\n", `has min or max, which only the kinds int and int|off take`},
		"bounds crossed":          {"max: 95", "max: 1\n        min: 3", `the key "min" is here twice, first in line 29`},
		"min above max":           {"min: 0\n        max: 95", "min: 96\n        max: 95", `29:14: min 96 is above max 95`},
		"alias to nowhere":        {"noisy: loud", "noisy: quiet", `38:26: the alias "noisy" stands for "quiet", which is not a choice`},
		"alias is a choice":       {"noisy: loud", "calm: loud", `the alias "calm" is a choice itself`},
		"four user options":       {"scopes: [project]\n        title: Limit", "scopes: [user]\n        title: Limit", `52:17: more than 3 options have the scope user`},
		"unknown event":           {"event: Stop,", "event: Stopp,", `the host has no event "Stopp"; did you mean "Stop"?`},
		"event of another world":  {"event: Stop,", "event: Xxxxxxxxxxxxx,", `the host has no event "Xxxxxxxxxxxxx": want one of ConfigChange,`},
		"matcher on Stop":         {"event: Stop,", "event: Stop, matcher: x,", `the event Stop takes no matcher; the host would ignore it`},
		"if on Stop":              {"event: Stop,", "event: Stop, if: Write(x),", `the event Stop takes no if rule`},
		"timeout too long":        {"timeout: 60,", "timeout: 60000,", `62:40: 60000 is too large: want at most 600 (seconds)`},
		"timeout of nothing":      {"timeout: 60,", "timeout: 0,", `62:40: 0 is too small: want at least 1 (seconds)`},
		"SessionEnd, 2 s":         {"event: SessionEnd, timeout: 1", "event: SessionEnd, timeout: 2", `the timeout of SessionEnd is 2: want at most 1 second`},
		"same hook twice (F16)":   {"Write(**/b.md)", "Write(**/a.md)", `64:10: duplicate hook: same event, matcher and if rule as hook 2 of first`},
		"body outside":            {"body: go.md", "body: ../second/second.md", `"../second/second.md" leads out of the plugin's content directory`},
		"body from the root":      {"body: go.md", "body: /etc/motd.md", `"/etc/motd.md" leads out`},
		"readme outside":          {"readme: README.md\n    icon", "readme: ../README.md\n    icon", `21:13: "../README.md" leads out`},
		"repository undeclared":   {"{host: github.com, why: the launcher downloads from it}\n    options", "{host: gitlab.com, why: x}\n    options", `the host "github.com" of the repository is not declared`},
		"host with a path":        {"{host: github.com,", "{host: github.com/x,", `"github.com/x" does not fit: want a host name`},
		"host twice":              {"    options:\n", "      - {host: github.com, why: x}\n    options:\n", `25:16: duplicate host "github.com"`},
		"skill named as command":  {"        body: go.md\n", "        body: go.md\n    skills:\n      - {name: go, description: x, body: go.md}\n", `duplicate name "go"`},
		"command twice":           {"        body: go.md\n", "        body: go.md\n      - {name: go, description: x, body: go.md}\n", `duplicate command "go"`},
		"key twice":               {"version: 1.2.3\n", "version: 1.2.3\nversion: 1.2.4\n", `gen/manifest.yaml:3:1: the key "version" is here twice, first in line 2`},
		"broken YAML":             {"platforms: [linux/amd64", "platforms: {linux/amd64", "gen/manifest.yaml:11:"},
		"tab":                     {"  name: tools", "\tname: tools", "gen/manifest.yaml:"},
		"a tab indents":           {"    keywords: [one]", "\tkeywords: [one]", "20:1: a tab stands here: indent with spaces"},
		"indented too little":     {"    keywords: [one]", "   keywords: [one]", "20:4: this does not belong here: is it indented like the lines around it?\n   20 |    keywords"},
		"a colon in text":         {"title: second", "title: second: it", `75:12: a second ": " follows on this line: put text that has one into quotes`},
		"no space":                {"    keywords: [one]", "    keywords:[one]", "20:5: want KEY: VALUE, with a space behind the colon"},
		"no end of quotes":        {"title: second", "title: \"second", "text in double quotes begins here and does not end"},
		"quotes in quotes":        {"title: second", "title: 'it's one'", "75:16: something stands behind a value that has ended: put text with quotes in it into the other kind of quotes"},
		"a bracket open":          {"windows/amd64]", "windows/amd64", ":12:1: , or ] is missing before this"},
		"reserved":                {"title: second", "title: @second", `75:12: text cannot begin with @: put it into quotes`},
		"no anchor":               {"title: second", "title: *second", `nothing is called &second: put text that begins with * into quotes`},
		"a key of no text":        {"    keywords: [one]", "    ? : one", "20:7: a key has to be text"},
		"beyond whole numbers":    {"min: 1000", "min: 99999999999999999999", `51:14: want a whole number, found one that is too large, 99999999999999999999`},
		"digits in quotes":        {"min: 1000", `min: "1000"`, `51:14: want a whole number, found a string`},
		"no plugins":              {small[strings.Index(small, "plugins:"):], "", `1:1: "plugins" is missing`},
		"plugins by name":         {small[strings.Index(small, "plugins:"):], "plugins:\n  first: {}\n", `16:1: want a list, found a mapping (at least one plugin)`},
		"second document":         {"name: tools\nversion", "name: x\n---\nname: tools\nversion", "gen/manifest.yaml:2:1: a second document begins here"},
		"not a number":            {"input: 4", "input: .nan", "gen/manifest.yaml:15:37: .nan is not a valid number\n   15 | "},
		"no end":                  {"tokens: 1000000", "tokens: .inf", `13:38: .inf is not a valid number`},
		"no end below":            {"min: 1000", "min: -.Inf", `51:14: -.Inf is not a valid number`},
		"beyond all numbers":      {"input: 4", "input: 1e999", `15:37: want a number, found one that is too large, 1e999`},
		"a tag":                   {"input: 4", `input: !!float "nan"`, `15:37: the tag !!float is not supported`},
		"a tag of bytes":          {"title: second", "title: !!binary c2Vjb25k", `75:12: the tag !!binary is not supported`},
		"nested lists":            {"platforms: [", "platforms: [" + strings.Repeat("[", 50_000), "gen/manifest.yaml:11:71: lists and mappings are nested more than 60 deep\n   11 | … [["},
		"nested mappings":         {"platforms: [", "platforms: [" + strings.Repeat("{a: ", 50_000), `lists and mappings are nested more than 60 deep`},
		"nested entries":          {"platforms: [", "platforms: " + strings.Repeat("- ", 50_000) + "[", `lists and mappings are nested more than 60 deep`},
		"nested keys":             {"platforms: [", "platforms: " + strings.Repeat("? ", 50_000) + "[", `lists and mappings are nested more than 60 deep`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(small, tt.old) {
				t.Fatalf("small has no %q", tt.old)
			}
			text := strings.Replace(small, tt.old, tt.new, 1)
			_, err := decode(ManifestPath, []byte(text), nil)
			wants(t, err, tt.want)
			placed(t, err, text)
		})
	}
}

func TestDecodeReportsEverything(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit []string
		want []string
	}{
		"form":    {[]string{"license: MIT", "license: /etc", "keywords:", "keyword:", "min: 0", "min: x"}, []string{":5:10: ", ":20:5: ", ":29:14: "}},
		"meaning": {[]string{`default: "45"`, `default: "99"`, "SessionEnd, timeout: 1", "SessionEnd, timeout: 7", "event: Stop,", "event: Stop, matcher: x,"}, []string{":28:18: ", ":66:38: ", ":81:32: "}},
	} {
		_, err := decode(ManifestPath, []byte(strings.NewReplacer(tt.edit...).Replace(small)), nil)
		var ps Problems
		if !errors.As(err, &ps) || len(ps) != len(tt.want) {
			t.Fatalf("%s: %v, want %d problems", name, err, len(tt.want))
		}
		for i, want := range tt.want {
			if !strings.Contains(ps[i].String(), want) {
				t.Errorf("%s: problem %d is %s, want %s", name, i, ps[i], want)
			}
		}
	}
}

func TestDecodeRefusesWhatIsNoMapping(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "# nothing\n", "~\n", "- a\n", "word\n", "\xff\xfe", "\x00"} {
		if _, err := decode("m.yaml", []byte(in), nil); err == nil {
			t.Errorf("%q is accepted", in)
		} else if !strings.HasPrefix(err.Error(), "m.yaml:") {
			t.Errorf("%q: the error %q names no place", in, err)
		}
	}
}

// fields.yaml names nothing that no file has, and what it bounds it describes.
func TestFieldsAreOfTheFiles(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	var visit func(typ reflect.Type)
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(typ.Elem())
		case reflect.Struct:
			used[typ.Name()] = true
			properties, _ := ruleOf(typ)["properties"].(rule)
			for key := range properties {
				used[key], used[typ.Name()+"."+key] = true, true
			}
			for _, f := range reflect.VisibleFields(typ) {
				if f.IsExported() {
					visit(f.Type)
				}
			}
		}
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[manifest](), reflect.TypeFor[pluginFileJSON](), reflect.TypeFor[hooksFileJSON](),
		reflect.TypeFor[marketFileJSON](), reflect.TypeFor[hostHooksJSON](), reflect.TypeFor[recordedCall](),
	} {
		visit(typ)
	}
	for name, r := range fields() {
		if !used[name] {
			t.Errorf("no file has %s", name)
		}
		for _, bound := range []string{"pattern", "minItems", "minLength", "maxProperties", "oneOf"} {
			if _, ok := r[bound]; ok && r["description"] == nil {
				t.Errorf("%s has a %s and no description", name, bound)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	if data, err := source.ReadFile("manifest.yaml"); err == nil {
		f.Add(data)
	}
	for _, s := range []string{
		"", "a", "[]", "{}", "- ", "a: &x [*x]", "a: !!int b", "? a\n: b", "a: |\n  b", "name: 'x", "\t", "---\n---\n", "<<: {a: 1}",
		"\ufeffname: x", "\xff\xfen\x00a\x00", "name: \xe9", "a\x00b", "a: .nan", "windows: [{tokens: -.inf}]", "a: !!float nan", "a: !!binary aGk=",
		strings.Repeat("[", 200), strings.Repeat("{a: ", 200), strings.Repeat("- ", 200), strings.Repeat("? ", 200), strings.Repeat("&a ", 200), "a: \"\x1b[2J\"",
		strings.Replace(small, "input: 4", "input: .nan", 1), strings.Replace(small, "tokens: 1000000", "tokens: .inf", 1), strings.Replace(small, "input: 4", "input: 1e999", 1),
		"a0: &a0 [x, x]\na1: &a1 [*a0, *a0]\na2: &a2 [*a1, *a1]\n", "a: &a [*a]",
		"plugins: [{}]", "plugins:\n  - hooks: [{event: Stop}]\n", "windows: [{tokens: 1e99}]", "version: 0x10", "a: \u2028", "name: &n x\nauthor: *n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode("m.yaml", data, nil)
		if err == nil {
			content := smallContent(t)
			content[templatePath].Data = []byte("-- README.md --\n{{options}}\n")
			if _, _, err = emit(m, content, nil); err == nil {
				return
			}
		}
		var ps Problems
		if !errors.As(err, &ps) || len(ps) == 0 {
			t.Fatalf("the error is %v, want problems", err)
		}
		for _, p := range ps {
			if p.File == "" || p.Message == "" {
				t.Errorf("a problem says nothing: %+v", p)
			}
			if text := p.String(); len(text) > 8000 || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
				t.Errorf("a problem is not for a terminal: %q", text)
			}
		}
	})
}

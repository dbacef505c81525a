package host

import (
	"encoding/json"
	"reflect"
	"testing"
)

// The scanner must see what encoding/json wrote, so a new field of Profile or
// Option that it forgets is found here.
func TestDecodeProfileReadsEveryField(t *testing.T) {
	var want Profile
	fill(reflect.ValueOf(&want).Elem())
	data, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeProfile(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, bad := range []string{"", "{", "[]", "{}", `{"plugin":1}`} {
		if _, err := DecodeProfile([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// fill gives every field of v a value of its own kind.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text \"of\" " + v.Type().Name() + "é\n")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[Raw]() {
			v.SetBytes([]byte(`"as it stands"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("old"), reflect.ValueOf("new"))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic("profile_test: teach fill about " + v.Kind().String())
	}
}

// What the generator writes of prices is what is read of them.
func TestPriceTableReadsEveryField(t *testing.T) {
	want := []Price{
		{Model: "m", Rates: Rates{Input: 2, Output: 10, CacheWrite5m: 2.5, CacheWrite1h: 4, CacheRead: 0.2}},
		{
			Model: "m", From: "2026-10-07", Rates: Rates{Input: 1e-3, Output: 0.5, CacheWrite5m: 0.125, CacheWrite1h: 0.2, CacheRead: 0.01},
			LongPrompt: &LongPrompt{Above: 100_000, Rates: Rates{Input: 0.5, Output: 2.5, CacheWrite5m: 0.625, CacheWrite1h: 1, CacheRead: 0.05}},
		},
	}
	prices, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(Profile{Plugin: "p", Prices: prices})
	if err != nil {
		t.Fatal(err)
	}
	p, err := DecodeProfile(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.PriceTable(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, none := range []string{"", "null", "{}", "[", `[{"model":"m"}`} {
		for _, row := range (Profile{Prices: Raw(none)}).PriceTable() {
			if row.Model != "m" {
				t.Errorf("%q has the price %+v", none, row)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	percent := Option{Key: "pct", Kind: KindOff, Max: 95}
	least := Option{Key: "window", Kind: KindInt, Min: 1000}
	mode := Option{Key: "mode", Kind: KindChoice, Choices: []string{"notify", "snapshot"}, Aliases: map[string]string{"checkpoint": "snapshot"}}
	flag := Option{Key: "flag", Kind: KindBool}
	text := Option{Key: "text", Kind: KindText}
	for _, tt := range []struct {
		o        Option
		in, want string // want "" is an error
	}{
		{percent, "30", "30"},
		{percent, " 30% ", "30"},
		{percent, "OFF", "off"},
		{percent, "0", "off"},
		{percent, "96", ""},
		{percent, "-1", ""},
		{percent, "3.5", ""},
		{percent, "", ""},
		{least, "1000", "1000"},
		{least, "2000000", "2000000"},
		{least, "999", ""},
		{least, "off", ""},
		{mode, "Checkpoint", "snapshot"},
		{mode, "notify", "notify"},
		{mode, "nag", ""},
		{flag, "yes", "on"},
		{flag, "0", "off"},
		{flag, "maybe", ""},
		{text, " A b ", "A b"},
		{text, "a\nb", ""},
	} {
		got, err := tt.o.Check(tt.in)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s = %q: got %q, %v", tt.o.Key, tt.in, got, err)
		}
	}
}

func TestResolve(t *testing.T) {
	p := Profile{Options: []Option{
		{Key: "pct", Kind: KindOff, Default: "45", Max: 95, Scopes: []Scope{ScopeUser, ScopeProject}},
		{Key: "window", Kind: KindInt, Min: 1000, Scopes: []Scope{ScopeProject}},
	}}
	for name, tt := range map[string]struct {
		key, project, user string
		want               string
		from               Source
		ignored            int
	}{
		"nothing set":               {key: "pct", want: "45", from: FromPlugin},
		"the user's":                {key: "pct", user: "30", want: "30", from: FromUser},
		"the project's":             {key: "pct", user: "30", project: "20", want: "20", from: FromProject},
		"an invalid one is none":    {key: "pct", user: "30", project: "200", want: "30", from: FromUser, ignored: 1},
		"both are invalid":          {key: "pct", user: "x", project: "y", want: "45", from: FromPlugin, ignored: 2},
		"not an option of the user": {key: "window", user: "5000", from: FromPlugin},
		"unknown key":               {key: "nope", project: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := p.Resolve(tt.key, func(string) string { return tt.project }, func(string) string { return tt.user })
			if got.Value != tt.want || got.Source != tt.from || len(got.Ignored) != tt.ignored {
				t.Errorf("got %+v", got)
			}
		})
	}
}

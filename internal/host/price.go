package host

import (
	"strconv"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// Rates are prices in US dollars per million tokens.
type Rates struct {
	Input        float64 `json:"input"`
	Output       float64 `json:"output"`
	CacheWrite5m float64 `json:"cache-write-5m"`
	CacheWrite1h float64 `json:"cache-write-1h"`
	CacheRead    float64 `json:"cache-read"`
}

// Price is what a model costs, from a day on.
type Price struct {
	Model string `json:"model"`
	// From is the first day the price holds, as YYYY-MM-DD; "" is since ever. Of
	// several rows for a model the newest that is not after the day counts.
	From  string `json:"from,omitempty"`
	Rates `yaml:",inline"`
	// LongPrompt, when set, prices every token of a request whose prompt has
	// more than Above tokens.
	LongPrompt *LongPrompt `json:"long-prompt,omitempty"`
}

// LongPrompt is the second tier of a price.
type LongPrompt struct {
	Above int `json:"above"`
	Rates `yaml:",inline"`
}

// Raw is JSON that is kept as it stands until somebody asks for it.
type Raw []byte

// MarshalJSON returns the JSON itself.
func (r Raw) MarshalJSON() ([]byte, error) { return r, nil }

// PriceTable returns the prices of the profile; none for a plugin that does not
// ask for them. Hooks need no prices and do not pay for reading them.
func (p Profile) PriceTable() []Price {
	var table []Price
	jsonscan.Array(p.Prices, func(value []byte) {
		var row Price
		jsonscan.Object(value, func(key, value []byte) {
			switch string(key) {
			case "model":
				row.Model = jsonscan.Text(value)
			case "from":
				row.From = jsonscan.Text(value)
			case "long-prompt":
				row.LongPrompt = scanLongPrompt(value)
			default:
				row.scan(key, value)
			}
		})
		table = append(table, row)
	})
	return table
}

func scanLongPrompt(data []byte) *LongPrompt {
	l := new(LongPrompt)
	jsonscan.Object(data, func(key, value []byte) {
		if string(key) == "above" {
			l.Above, _ = jsonscan.Count(value)
			return
		}
		l.scan(key, value)
	})
	return l
}

func (r *Rates) scan(key, value []byte) {
	for _, rate := range [...]struct {
		key string
		to  *float64
	}{
		{"input", &r.Input},
		{"output", &r.Output},
		{"cache-write-5m", &r.CacheWrite5m},
		{"cache-write-1h", &r.CacheWrite1h},
		{"cache-read", &r.CacheRead},
	} {
		if string(key) == rate.key {
			*rate.to, _ = strconv.ParseFloat(string(value), 64)
		}
	}
}

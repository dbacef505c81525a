package page

import (
	"fmt"
	"html"
	"strings"
)

// markup is HTML that stands in these sources. A text that somebody wrote is no
// markup and does not become it: only a constant is both.
//
// html/template would do this as well. It calls methods by their names, so that the
// linker has to keep all there are: the program would be a quarter larger.
type markup string

// document collects HTML.
type document struct{ strings.Builder }

// put adds markup. Each %s in it, which is a text or the value of an attribute in
// double quotes, stands for an argument that is escaped.
func (d *document) put(m markup, args ...string) {
	escaped := make([]any, len(args))
	for i, a := range args {
		escaped[i] = html.EscapeString(a)
	}
	fmt.Fprintf(d, string(m), escaped...)
}

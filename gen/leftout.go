package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// leftOut is what an import leaves where it is, by the reason.
type leftOut struct {
	git, empty []string // directories
	beside     bool     // whether the marketplace lies in a plugin that it does not list
	unlisted   []string // plugins that the marketplace does not list
	copied     []string // plugins that it lists from elsewhere
	others     []string // files of no plugin, and directories that have only such
}

// sentences returns one for each reason.
func (l leftOut) sentences() (out []string) {
	say := func(list []string, one, more string) {
		switch slices.Sort(list); len(list) {
		case 0:
		case 1:
			out = append(out, fmt.Sprintf(one, list[0]))
		default:
			out = append(out, fmt.Sprintf(more, some(", ", list)))
		}
	}
	if l.beside {
		out = append(out, "the plugin in this directory: its marketplace does not list it; import a copy without .claude-plugin/marketplace.json to have it")
	}
	say(l.git, "%s: the history stays where it is", "%s: the histories stay where they are")
	say(l.unlisted, "%s: the marketplace does not list this plugin", "%s: the marketplace does not list these plugins")
	say(l.copied, "%s: the marketplace lists this plugin from elsewhere, and goes on doing so", "%s: the marketplace lists these plugins from elsewhere, and goes on doing so")
	say(l.others, "%s: it belongs to no plugin; copy it if the project is to keep it", "%s: they belong to no plugin; copy what the project is to keep")
	say(l.empty, "%s: it is an empty directory, which git does not keep either", "%s: they are empty directories, which git does not keep either")
	return out
}

// maxNamed is how many names a sentence has at most.
const maxNamed = 6

// some returns what is in a list with something between, of many the first.
func some(between string, list []string) string {
	if len(list) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed-1], between), len(list)-maxNamed+1)
	}
	return strings.Join(list, between)
}

// around notes what lies in dir, of a marketplace, and in none of the plugins that it
// lists.
func (im *importer) around(dir string) error {
	if im.dirs[dir] {
		return nil
	}
	entries, err := im.list(dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		p := path.Join(dir, d.Name())
		switch {
		case d.Name() == ".git":
			im.left.git = append(im.left.git, p)
		case p == marketFile:
		case !d.IsDir():
			im.left.others = append(im.left.others, p)
		case im.isPlugin(p) && !im.dirs[p]:
			about, _ := im.object(path.Join(p, pluginFile))
			if name, _ := about["name"].(string); im.remote[name] {
				im.left.copied = append(im.left.copied, p)
			} else {
				im.left.unlisted = append(im.left.unlisted, p)
			}
		default:
			if err := im.below(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// below is around for a directory, which is named itself where nothing in it is of a
// plugin or empty.
func (im *importer) below(dir string) error {
	before := im.left
	if err := im.around(dir); err != nil {
		return err
	}
	same := len(im.left.unlisted) == len(before.unlisted) && len(im.left.copied) == len(before.copied) && len(im.left.empty) == len(before.empty) && len(im.left.git) == len(before.git)
	for plugin := range im.dirs {
		same = same && plugin != dir && !strings.HasPrefix(plugin, dir+"/")
	}
	if n := len(im.left.others) - len(before.others); same && n > 0 {
		im.left.others = append(im.left.others[:len(before.others):len(before.others)], dir+"/")
	}
	return nil
}

// isPlugin reports whether dir is a plugin by itself.
func (im *importer) isPlugin(dir string) bool {
	info, err := fs.Stat(im.files, path.Join(dir, pluginFile))
	return err == nil && info.Mode().IsRegular()
}

// oddities says what a JSON file has that is not there any more once it is read and
// written again.
func oddities(data []byte) (out []string) {
	text := withoutMark(data)
	if len(text) < len(data) {
		out = append(out, "the byte order mark it begins with is not written again")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	twice, _ := repeated(dec, nil)
	for _, key := range twice {
		out = append(out, fmt.Sprintf("the key %s is there twice, and only the last one is taken", key))
	}
	if broken(text) {
		out = append(out, "a character that is none, such as half of a pair, is written as \\ufffd")
	}
	return out
}

// repeated returns the keys that an object of the next value has twice.
func repeated(dec *json.Decoder, at []string) (out []string, err error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	object := t == json.Delim('{')
	if !object && t != json.Delim('[') {
		return nil, nil
	}
	seen := map[string]bool{}
	for n := 0; dec.More(); n++ {
		step := strconv.Itoa(n)
		if object {
			key, err := dec.Token()
			if err != nil {
				return out, err
			}
			step, _ = key.(string)
			if seen[step] {
				out = append(out, strconv.Quote(strings.Join(append(slices.Clone(at), step), ".")))
			}
			seen[step] = true
		}
		below, err := repeated(dec, append(slices.Clone(at), step))
		out = append(out, below...)
		if err != nil {
			return out, err
		}
	}
	_, err = dec.Token()
	return out, err
}

// escaped matches an escape, of a character beyond the first 65536 both halves.
var escaped = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)`)

// broken reports whether JSON has bytes that are no UTF-8, or half of an escaped pair.
func broken(data []byte) bool {
	return !utf8.Valid(data) || slices.ContainsFunc(escaped.FindAll(data, -1), func(e []byte) bool {
		return len(e) == len(`\ud800`) && bytes.ContainsAny(e[2:3], "dD") && bytes.ContainsAny(e[3:4], "89abABcdefCDEF")
	})
}

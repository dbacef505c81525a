package gen

import (
	"bytes"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// docsBlock is a block of code on a page, with the text before it.
type docsBlock struct{ before, language, code string }

func docsBlocks(t *testing.T, page string) (out []docsBlock) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	at := 0
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatchIndex(text, -1) {
		out = append(out, docsBlock{text[at:m[0]], text[m[2]:m[3]], text[m[4]:m[5]]})
		at = m[1]
	}
	return out
}

// Each example in docs/manifest.md generates, and what the page says becomes of it
// does. The files it names in gen/content are there.
func TestManifestPageIsTrue(t *testing.T) {
	t.Parallel()
	const header = "name: mine\nmarketplace: {name: mine, owner: {name: Me}}\n"
	named := regexp.MustCompile("`gen/content/([^`*]+)`")
	becomes := regexp.MustCompile("`([^`]+)`:\\s*$")
	blocks := docsBlocks(t, "../docs/manifest.md")
	icon := picture(t, 512, 512)
	examples := 0
	for i, b := range blocks {
		if b.language != "yaml" || !strings.Contains(b.code, "plugins:\n") || !strings.Contains(b.code, "runtime: none") {
			continue
		}
		examples++
		manifest := b.code
		if !strings.HasPrefix(manifest, "name:") {
			manifest = header + manifest
		}
		content := fstest.MapFS{templatePath: {Data: []byte(stockTemplate(t))}}
		var results []docsBlock
		text := ""
		for _, next := range blocks[i+1:] {
			text += next.before
			if next.language == "yaml" {
				break
			}
			results = append(results, next)
		}
		text, _, _ = strings.Cut(text, "\n### ")
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			switch f := &(fstest.MapFile{Data: []byte("Text of " + path.Base(m[1]) + ".\n"), Mode: 0o755}); {
			case strings.HasSuffix(m[1], "/"), strings.HasSuffix(m[1], "PLUGIN"):
			case strings.HasSuffix(m[1], ".png"):
				content["gen/content/"+m[1]] = &fstest.MapFile{Data: icon}
			case strings.HasSuffix(m[1], ".json"):
				content["gen/content/"+m[1]] = &fstest.MapFile{Data: []byte("{}")}
			default:
				content["gen/content/"+m[1]] = f
			}
		}
		got, warnings, err := emitForeign(t, manifest, content)
		if err != nil {
			t.Errorf("%s\n%v", b.code, err)
			continue
		}
		for _, w := range warnings {
			if !w.house {
				t.Errorf("%s\nwarns: %s", b.code, w)
			}
		}
		for _, r := range results {
			m := becomes.FindStringSubmatch(r.before)
			if m == nil {
				continue
			}
			file := m[1]
			for _, dir := range got.paths() {
				if dir == m[1] || strings.HasPrefix(dir, pluginsDir+"/") && strings.HasSuffix(dir, "/"+m[1]) {
					file = dir
				}
			}
			f, ok := got[file]
			switch {
			case !ok:
				t.Errorf("%s\nhas no %q among %q", b.code, m[1], got.paths())
			case r.language == "json":
				sameJSON(t, m[1], f.Data, r.code)
			case !bytes.Equal(f.Data, []byte(r.code)):
				t.Errorf("%s is\n%s\nand on the page\n%s", m[1], f.Data, r.code)
			}
		}
	}
	if examples < 7 {
		t.Errorf("the page has %d examples", examples)
	}
}

// Every key of a manifest is on its page, and an editor that has the schema says
// what it is for.
func TestManifestPageHasEveryKey(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[manifest](), reflect.TypeFor[plugin](), reflect.TypeFor[hook](), reflect.TypeFor[prose](), reflect.TypeFor[marketplace]()} {
		properties, _ := ruleOf(typ)["properties"].(rule)
		for key := range properties {
			if !strings.Contains(string(data), "`"+key+"`") {
				t.Errorf("the page has no %s of %s", key, typ.Name())
			}
		}
	}
}

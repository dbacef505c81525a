package gen

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What the host has against the parts of any plugin. Each rule here was seen on
// the real client; the acceptance test TestVerdicts holds them against it.

// guards are the events whose hooks may be what keeps a tool from running: the
// host refuses a plugin in which one of them cannot be loaded, and passes over
// any other.
var guards = []string{"PreToolUse", "PermissionRequest"}

// hooks checks hooks/hooks.json, if there is one.
func (v *validator) hooks(dir string) {
	if _, ok := v.tree[dir+hooksFile]; ok {
		v.hooksIn(dir, dir+hooksFile)
	}
}

// hooksIn checks a file of hooks.
func (v *validator) hooksIn(dir, file string) {
	value, ok := v.json(file)
	if !ok {
		return
	}
	all, ok := value.(map[string]any)
	if !ok {
		v.reportAt(file, "", "want a mapping with \"hooks\"")
		return
	}
	if s, ok := all["description"]; ok && !isText(s) {
		v.reportAt(file, "/description", "want a string")
	}
	modules, hasModules := all["modules"]
	if _, ok := all["hooks"]; !ok && isEmptyList(modules) {
		v.reportAt(file, "", "%q is missing", "hooks")
		return
	}
	for _, event := range guards {
		if _, ok := all[event]; ok {
			v.reportAt(file, "/"+event+keySuffix, "the hooks of %s stand outside of %q, where the host does not look for what guards a tool", event, "hooks")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains([]string{"hooks", "modules", "description", "$schema"}, key) && !slices.Contains(guards, key) {
			v.note(v.at(file, "/"+key+keySuffix, "unknown key %q%s", key, didYouMean(key, []string{"hooks", "modules", "description"})))
		}
	}
	if hooks, ok := all["hooks"]; ok {
		if events, ok := hooks.(map[string]any); ok {
			v.events(dir, file, "/hooks", events, false)
		} else {
			v.reportAt(file, "/hooks", "want a mapping of events")
		}
	}
	if hasModules {
		v.modules(dir, file, modules)
	}
}

// modules checks the program of a plugin that the host runs in itself.
func (v *validator) modules(dir, file string, value any) {
	list, ok := value.([]any)
	if !ok {
		v.reportAt(file, "/modules", "want a list with one module")
		return
	}
	for i, item := range list {
		place := fmt.Sprintf("/modules/%d", i)
		name, ok := item.(string)
		switch {
		case !ok:
			v.reportAt(file, place, "want a path")
		case i > 0:
			v.reportAt(file, place, "the host takes one module of a plugin")
		case !v.tree.hasFile(path.Join(path.Dir(file), name)):
			v.reportAt(file, place, "%q is not in %s/", name, path.Dir(file))
		}
	}
}

// events checks the hooks of each event. Strict is how the host reads an entry of
// a marketplace: it refuses whatever it does not know.
func (v *validator) events(dir, file, at string, all map[string]any, strict bool) {
	known := words(allEvents())
	for _, event := range slices.Sorted(maps.Keys(all)) {
		place := at + "/" + event
		say := v.note
		if strict || slices.Contains(guards, event) {
			say = v.refuse
		}
		if !slices.Contains(known, event) {
			switch {
			case holdsGuard(all[event]):
				v.reportAt(file, place+keySuffix, "%q is no event, and a hook in it guards a tool: the host takes nothing of it", event)
			case strict:
				v.reportAt(file, place+keySuffix, "the host has no event %q%s", event, didYouMean(event, known))
			default:
				v.note(v.at(file, place+keySuffix, "the host has no event %q and passes it over%s", event, didYouMean(event, known)))
			}
			continue
		}
		groups, ok := all[event].([]any)
		if !ok {
			say(v.at(file, place, "want a list, each with %q", "hooks"))
			continue
		}
		for i, item := range groups {
			v.group(dir, file, fmt.Sprintf("%s/%d", place, i), event, item, say)
		}
	}
}

// holdsGuard reports whether a hook of one of the guards is somewhere in value.
func holdsGuard(value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, holdsGuard)
	case map[string]any:
		for key, inner := range value {
			if slices.Contains(guards, key) || holdsGuard(inner) {
				return true
			}
		}
	}
	return false
}

// group checks the handlers of an event that share a matcher.
func (v *validator) group(dir, file, place, event string, item any, say func(finding)) {
	group, ok := item.(map[string]any)
	if !ok {
		say(v.at(file, place, "want a mapping with %q", "hooks"))
		return
	}
	text, isString := group["matcher"].(string)
	if _, ok := group["matcher"]; ok && !isString {
		say(v.at(file, place+"/matcher", "want a string"))
	} else if why := badMatcher(text); why != "" {
		v.note(v.at(file, place+"/matcher", "the matcher %q is not a regular expression: %s", text, why))
	}
	handlers, ok := group["hooks"].([]any)
	if !ok {
		say(v.at(file, place+"/hooks", "want a list of handlers as %q", "hooks"))
	}
	for i, item := range handlers {
		place := fmt.Sprintf("%s/hooks/%d", place, i)
		handler, ok := item.(map[string]any)
		switch {
		case !ok:
			say(v.at(file, place, "want a mapping with %q", "type"))
			continue
		case handler["type"] == nil:
			say(v.at(file, place, "%q is missing", "type"))
			continue
		}
		for _, f := range v.conform(file, place, handler, handlerSchema) {
			if f.ignored {
				v.note(f)
			} else {
				say(f)
			}
		}
		v.handler(dir, file, place, event, handler)
	}
}

// rooted finds the files of a plugin that a command line names.
var rooted = regexp.MustCompile(`("?)\$\{CLAUDE_PLUGIN_ROOT\}"?/([A-Za-z0-9_./-]*[A-Za-z0-9_-])`)

// handler checks what will go wrong when the host runs a command.
func (v *validator) handler(dir, file, place, event string, h map[string]any) {
	command, ok := h["command"].(string)
	if h["type"] != "command" || !ok {
		return
	}
	args, exec := h["args"].([]any)
	if h["timeout"] == nil {
		v.advise(file, "a hook of %s has no timeout", event)
	}
	if exec && strings.ContainsAny(strings.ReplaceAll(command, "${CLAUDE_PLUGIN_ROOT}", ""), " \t") {
		v.note(v.at(file, place+"/command", "a hook of %s starts the program %q, and with args no shell takes that apart", event, command))
	}
	if !exec {
		v.advise(file, "a hook of %s goes through a shell, which differs from system to system: exec form has command and args", event)
	}
	for i, text := range append([]any{command}, args...) {
		at := place + "/command"
		if i > 0 {
			at = fmt.Sprintf("%s/args/%d", place, i-1)
		}
		line, _ := text.(string)
		if m := rooted.FindStringSubmatchIndex(line); m != nil && !exec && m[2] == m[3] {
			v.note(v.at(file, at, "a hook of %s has ${CLAUDE_PLUGIN_ROOT} without quotes, which fails where the path has a space", event))
		}
		v.named(dir, file, at, "a hook of "+event, line)
		if i == 0 {
			v.starts(dir, "a hook", line)
		}
	}
}

// named checks that the files of the plugin which a text names are there.
func (v *validator) named(dir, file, at, who, text string) {
	for _, m := range rooted.FindAllStringSubmatch(text, -1) {
		if name := path.Join(dir, m[2]); !v.tree.holds(name) && !bundled(m[2]) {
			v.note(v.at(file, at, "%s names %q, which is not in the plugin", who, m[2]))
		}
	}
}

// starts checks the run bit of the file that a command line begins with.
func (v *validator) starts(dir, who, command string) {
	m := rooted.FindStringSubmatchIndex(command)
	if m == nil || m[0] != 0 {
		return
	}
	name := path.Join(dir, command[m[4]:m[5]])
	if f, ok := v.tree[name]; ok && f.Mode&0o111 == 0 {
		v.warn(name, "%s starts this file and it is not executable", who)
	}
}

// inline checks what plugin.json has itself instead of in a file of its own, and
// that the files it names are there.
func (v *validator) inline(dir string, all map[string]any) {
	file := dir + pluginFile
	for _, key := range []string{"hooks", "commands", "agents", "skills", "outputStyles", "themes", "workflows", "monitors", "types", "mcpServers", "lspServers"} {
		v.paths(dir, key, "/"+key, all[key])
	}
	if more, ok := all["experimental"].(map[string]any); ok {
		for _, key := range []string{"themes", "monitors"} {
			v.paths(dir, key, "/experimental/"+key, more[key])
		}
	}
	if commands, ok := all["commands"].(map[string]any); ok {
		for name, item := range commands {
			about, _ := item.(map[string]any)
			v.paths(dir, "commands", "/commands/"+name+"/source", about["source"])
		}
	}
	for at, value := range flat("/hooks", all["hooks"]) {
		switch value := value.(type) {
		case map[string]any:
			v.events(dir, file, at, value, false)
		case string:
			if name, ok := inside(value); ok && name != hooksFile && v.tree.hasFile(dir+name) {
				v.hooksIn(dir, dir+name)
			}
		}
	}
	options := declared(all)
	for at, value := range flat("/mcpServers", all["mcpServers"]) {
		switch value := value.(type) {
		case map[string]any:
			v.servers(dir, file, at, value, options, false)
		case string:
			if name, ok := inside(value); ok && name != serversFile && strings.HasSuffix(name, ".json") && v.tree.hasFile(dir+name) {
				v.serversIn(dir, dir+name, options)
			}
		}
	}
	v.serversIn(dir, dir+serversFile, options)
}

// flat returns the value at a place, or, of a list, each item with its place.
func flat(at string, value any) map[string]any {
	list, ok := value.([]any)
	if !ok {
		return map[string]any{at: value}
	}
	out := map[string]any{}
	for i, item := range list {
		out[at+"/"+strconv.Itoa(i)] = item
	}
	return out
}

// inside returns a path in a plugin, which begins with a dot, as the tree has it.
func inside(value string) (name string, ok bool) {
	name, ok = strings.CutPrefix(value, ".")
	if !ok || name != "" && name[0] != '/' || strings.Contains(name, "..") {
		return "", false
	}
	return path.Join(".", strings.TrimPrefix(name, "/")), true
}

// paths checks that the files which a key of plugin.json names are there.
func (v *validator) paths(dir, key, at string, value any) {
	for at, value := range flat(at, value) {
		text, ok := value.(string)
		if !ok {
			continue
		}
		name, ok := inside(text)
		file := dir + pluginFile
		switch {
		case !ok:
			if !strings.Contains(text, "://") { // a bundle of servers may be elsewhere
				v.reportAt(file, at, "%s names %q: want a path in the plugin that begins with ./", key, text)
			}
		case key == "hooks" && name == hooksFile:
			v.note(v.at(file, at, "%s names %q, which the host loads by itself: the key can go", key, text))
		case !v.tree.holds(path.Join(dir, name)):
			v.reportAt(file, at, "%s names %q, which is not in the plugin", key, text)
		case key == "skills" && v.tree.hasFile(path.Join(dir, name)):
			v.reportAt(file, at, "%s names the file %q: want the directory it is in", key, text)
		}
	}
}

const serversFile = ".mcp.json"

// declared returns the options that plugin.json declares, as KEY and, for those
// of a channel, SERVER/KEY.
func declared(all map[string]any) map[string]bool {
	out := map[string]bool{}
	add := func(prefix string, value any) {
		options, _ := value.(map[string]any)
		for key := range options {
			out[prefix+key] = true
		}
	}
	add("", all["userConfig"])
	channels, _ := all["channels"].([]any)
	for _, item := range channels {
		channel, _ := item.(map[string]any)
		server, _ := channel["server"].(string)
		add(server+"/", channel["userConfig"])
	}
	return out
}

// serversIn checks a file of MCP servers, if there is one. In a marketplace the
// host does not look at it, nor at frontmatter.
func (v *validator) serversIn(dir, file string, options map[string]bool) {
	defer v.unlessListed()()
	if _, ok := v.tree[file]; !ok {
		return
	}
	value, ok := v.json(file)
	if !ok {
		return
	}
	at := ""
	if all, ok := value.(map[string]any); ok && all["mcpServers"] != nil {
		at, value = "/mcpServers", all["mcpServers"]
	}
	switch value := value.(type) {
	case map[string]any:
		v.servers(dir, file, at, value, options, true)
	case []any: // no servers
	default:
		v.reportAt(file, at, "want a mapping of servers by their names")
	}
}

// wanted finds the options that a server asks for.
var wanted = regexp.MustCompile(`\$\{user_config\.([^}]+)\}`)

// servers checks MCP servers by their names: in a file, or as a part of
// plugin.json that has been held against its schema already.
func (v *validator) servers(dir, file, at string, all map[string]any, options map[string]bool, own bool) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		place := at + "/" + name
		server, ok := all[name].(map[string]any)
		if own {
			if !ok {
				v.reportAt(file, place, "the server %q: want a mapping with command, or type and url", name)
				continue
			}
			for _, f := range v.conform(file, place, server, serverSchema) {
				if f.ignored {
					v.note(f)
				} else {
					v.refuse(f)
				}
			}
			switch server["type"] {
			case "sdk", "sse-ide", "ws-ide", "claudeai-proxy":
				v.reportAt(file, place+"/type", "the server %q has the type %q, which only the host itself declares", name, server["type"])
			}
		}
		if address, _ := server["url"].(string); address != "" && !strings.Contains(address, "${") {
			if u, err := url.Parse(address); err != nil || u.Scheme == "" {
				v.reportAt(file, place+"/url", "%q is not an address such as https://host/path", address)
			}
		}
		command, _ := server["command"].(string)
		v.starts(dir, "a server", command)
		for at, text := range texted(place, server) {
			v.named(dir, file, at, fmt.Sprintf("the server %q", name), text)
			for _, m := range wanted.FindAllStringSubmatch(text, -1) {
				if !options[m[1]] && !options[name+"/"+m[1]] {
					v.reportAt(file, at, "${user_config.%s} is not an option of the plugin: declare it as userConfig%s", m[1], didYouMean(m[1], slices.Sorted(maps.Keys(options))))
				}
			}
		}
	}
}

// texted returns every text in value with its place.
func texted(at string, value any) map[string]string {
	out := map[string]string{}
	switch value := value.(type) {
	case string:
		out[at] = value
	case []any:
		for i, item := range value {
			maps.Copy(out, texted(at+"/"+strconv.Itoa(i), item))
		}
	case map[string]any:
		for key, item := range value {
			maps.Copy(out, texted(at+"/"+key, item))
		}
	}
	return out
}

// prose checks the frontmatter of what the host finds by itself.
func (v *validator) prose(dir string) {
	defer v.unlessListed()()
	for p := range v.tree {
		name, ok := strings.CutPrefix(p, dir)
		if !ok {
			continue
		}
		parts := strings.Split(name, "/")
		switch {
		case len(parts) < 2:
		case parts[0] == "commands" || parts[0] == "agents":
			if strings.EqualFold(path.Ext(name), ".md") {
				v.frontmatter(p)
			}
		case parts[0] == "skills" && len(parts) == 3 && parts[2] == "SKILL.md":
			v.frontmatter(p)
		}
	}
}

// front matches a frontmatter. As the host reads it, it ends with the next three
// dashes, wherever they are.
var front = regexp.MustCompile(`^---[ \t\r\n]*\n((?s:.*?))---`)

// bareLine matches a line whose value the host puts into quotes when the
// frontmatter is no YAML, and special what such a value has.
var (
	bareLine = regexp.MustCompile(`(?m)^([A-Za-z_-]+):[ \t]+(.+)$`)
	special  = regexp.MustCompile("[{}\\[\\]*,&#!|>%@`]|: ")
)

// frontmatter checks that of one file.
func (v *validator) frontmatter(file string) {
	data := v.tree[file].Data
	m := front.FindSubmatchIndex(data)
	if m == nil {
		v.warned = append(v.warned, finding{File: file, Message: "there is no frontmatter: it begins with --- in the first line, and its description says what this is"})
		return
	}
	text := string(data[m[2]:m[3]])
	d := &document{file: file, lines: strings.Split(text, "\n"), places: map[string]*token.Token{}}
	say := func(say func(finding), key, format string, args ...any) {
		f := d.problem("", format, args...)
		for i, line := range d.lines {
			if key != "" && strings.HasPrefix(line, key+":") {
				f.Line, f.Source = i+1, line
			}
		}
		f.Line += bytes.Count(data[:m[2]], []byte("\n"))
		f.Source = strings.TrimRight(f.Source, "\r")
		say(f)
	}
	value, err := readFrontmatter(text)
	if err != nil {
		if placed := yaml.Error(nil); errors.As(err, &placed) {
			d.places[""] = placed.GetToken()
		}
		say(v.refuse, "", "the frontmatter is not YAML, so the host takes nothing of it: put what is text into quotes")
		return
	}
	all, ok := value.(map[string]any)
	if value != nil && !ok {
		say(v.refuse, "", "want a frontmatter of keys and values")
		return
	}
	switch all["description"].(type) {
	case nil:
		v.warned = append(v.warned, finding{File: file, Message: "the frontmatter has no description"})
	case []any, map[string]any:
		say(v.refuse, "description", "want a string")
	}
	if name := all["name"]; name != nil && !isText(name) {
		say(v.refuse, "name", "want a string")
	}
	if shell := all["shell"]; shell != nil && shell != "bash" && shell != "powershell" {
		say(v.refuse, "shell", "%q does not fit: want bash or powershell", fmt.Sprint(shell))
	}
	tools, list := all["allowed-tools"].([]any)
	if one := all["allowed-tools"]; one != nil && !isText(one) && !list || slices.ContainsFunc(tools, func(v any) bool { return !isText(v) }) {
		say(v.refuse, "allowed-tools", "want a string or a list of strings")
	}
}

// readFrontmatter returns what a frontmatter says. As the host makes it out, what
// means something to YAML is taken for text where it is no YAML otherwise.
func readFrontmatter(text string) (any, error) {
	v, err := loose(text)
	if err == nil {
		return v, nil
	}
	quoted := bareLine.ReplaceAllStringFunc(text, func(line string) string {
		m := bareLine.FindStringSubmatch(line)
		value := m[2]
		q := value[0]
		if strings.HasSuffix(line, "\r") || !special.MatchString(value) || len(value) > 1 && (q == '"' || q == '\'') && value[len(value)-1] == q {
			return line
		}
		return m[1] + ": " + strconv.Quote(value)
	})
	if v, again := loose(quoted); again == nil {
		return v, nil
	}
	return nil, err
}

// tabbed matches the tabs a line begins with.
var tabbed = regexp.MustCompile(`(?m)^\t+`)

// loose reads YAML in which a key may be there twice and a tab may stand for an
// indentation.
func loose(text string) (v any, err error) {
	if strings.Contains(text, "\x00") {
		return nil, errors.New("a zero byte")
	}
	text = tabbed.ReplaceAllStringFunc(text, func(tabs string) string { return strings.Repeat("  ", len(tabs)) })
	tokens := lexer.Tokenize(text)
	if deep(tokens) != nil {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	for _, doc := range parsed.Docs {
		if doc.Body != nil {
			err = yaml.NodeToValue(doc.Body, &v, yaml.AllowDuplicateMapKey())
			break
		}
	}
	return v, err
}

func isText(v any) bool { _, ok := v.(string); return ok }

func isEmptyList(v any) bool {
	list, ok := v.([]any)
	return v == nil || ok && len(list) == 0
}

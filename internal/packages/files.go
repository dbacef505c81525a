package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// writeFiles makes DIR/packages from DIR/man and the files of the repository,
// which is the current directory. date is that of a version without one.
func writeFiles(dir string, date time.Time) error {
	out := filepath.Join(dir, "packages")
	if err := os.MkdirAll(filepath.Join(out, "man"), 0o755); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	if err != nil || len(pages) == 0 {
		return errors.Join(fmt.Errorf("no man pages in %q", dir), err)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := writeCompressed(filepath.Join(out, "man", filepath.Base(page)), data); err != nil {
			return err
		}
	}

	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	changelog, err := debianChangelog(string(changes), date)
	if err != nil {
		return err
	}
	if err := writeCompressed(filepath.Join(out, "changelog"), []byte(changelog)); err != nil {
		return err
	}

	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	copyright := "ccreload, from https://github.com/ccreload/ccreload\n" +
		"MODULES.txt in this directory has the licenses of the modules that are linked.\n\n" + string(license)
	if err := os.WriteFile(filepath.Join(out, "copyright"), []byte(copyright), 0o644); err != nil {
		return err
	}

	modules, err := linked()
	if err != nil {
		return err
	}
	text, err := moduleLicenses(modules)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "MODULES.txt"), []byte(text), 0o644)
}

func writeCompressed(path string, data []byte) error {
	data, err := compress(data)
	if err != nil {
		return err
	}
	return os.WriteFile(path+".gz", data, 0o644)
}

// debianChangelog returns the changelog of the project in the form of
// deb-changelog(5): one entry for each version, one item for each paragraph
// and each list item. A version that has no date in its heading gets date.
func debianChangelog(markdown string, date time.Time) (string, error) {
	var out strings.Builder
	var item []string // the words of what is being read
	var signature string
	flush := func() {
		if len(item) > 0 {
			out.WriteString(wrap(item, "  * ", "    "))
			item = nil
		}
	}
	end := func() {
		flush()
		out.WriteString(signature)
		signature = ""
	}
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			end()
			version, rest, _ := strings.Cut(heading, " ")
			released := date
			if day := strings.Trim(rest, "()"); day != "" && day != "unreleased" {
				var err error
				if released, err = time.Parse(time.DateOnly, day); err != nil {
					return "", fmt.Errorf("heading %q: %w", heading, err)
				}
			}
			if out.Len() > 0 {
				out.WriteString("\n")
			}
			fmt.Fprintf(&out, "ccreload (%s) unstable; urgency=medium\n\n", version)
			signature = fmt.Sprintf("\n -- %s  %s\n", maintainer, released.Format(time.RFC1123Z))
			continue
		}
		if signature == "" {
			continue // what stands before the first version
		}
		text, starts := strings.CutPrefix(line, "- ")
		if starts || strings.TrimSpace(line) == "" {
			flush()
		}
		item = append(item, strings.Fields(text)...)
	}
	end()
	if out.Len() == 0 {
		return "", errors.New("CHANGELOG.md has no version")
	}
	return out.String(), nil
}

// wrap returns words in lines of at most 78 characters, the first after first,
// the others after next.
func wrap(words []string, first, next string) string {
	const width = 78
	var out strings.Builder
	line := first
	for i, word := range words {
		switch {
		case i == 0:
			line += word
		case len(line)+1+len(word) > width:
			out.WriteString(line + "\n")
			line = next + word
		default:
			line += " " + word
		}
	}
	out.WriteString(line + "\n")
	return out.String()
}

// module is a Go module that a program contains, and where its source is.
type module struct {
	path, version, dir string
}

// linked returns the modules that the programs contain on any system, sorted,
// and last Go itself.
func linked() ([]module, error) {
	var modules []module
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/...")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		var complaint bytes.Buffer
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w\n%s", err, complaint.Bytes())
		}
		for line := range strings.Lines(string(out)) {
			if part := strings.Split(strings.TrimSpace(line), "\t"); len(part) == 3 {
				modules = append(modules, module{part[0], part[1], part[2]})
			}
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	return append(slices.Compact(modules), module{"Go", runtime.Version(), strings.TrimSpace(string(root))}), nil
}

// moduleLicenses returns the license and notice files of modules as one text.
// A module without any is an error: it could not be shipped.
func moduleLicenses(modules []module) (string, error) {
	var out strings.Builder
	out.WriteString("The programs ccreload and ccreload-gen contain parts of what follows.\n")
	for _, m := range modules {
		entries, err := os.ReadDir(m.dir)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.path, err)
		}
		fmt.Fprintf(&out, "\n%s\n%s %s\n", strings.Repeat("=", 72), m.path, m.version)
		found := false
		for _, entry := range entries {
			name := strings.ToUpper(entry.Name())
			license := strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING")
			if entry.IsDir() || !license && !strings.HasPrefix(name, "NOTICE") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(m.dir, entry.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "\n%s\n", strings.TrimRight(string(text), "\n"))
			found = found || license
		}
		if !found {
			return "", fmt.Errorf("%s has no license file", m.path)
		}
	}
	return out.String(), nil
}

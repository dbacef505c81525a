package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ccreload/ccreload"
)

// manPage writes one page for a program and all its commands. It has no date:
// two builds of one version are the same.
func manPage(root *cobra.Command) []byte {
	var p page
	p.macro("TH", strings.ToUpper(root.Name()), "1", "", root.Name()+" "+ccreload.Version(), "User Commands")
	p.macro("SH", "NAME")
	p.line(root.Name() + " - " + uncapitalise(root.Short))
	p.macro("SH", "SYNOPSIS")
	p.bold(root.Name())
	p.line("COMMAND [ARGUMENTS]")
	p.macro("SH", "DESCRIPTION")
	p.prose(root.Long)
	p.macro("SH", "COMMANDS")
	p.commands(root)
	if flags := root.NonInheritedFlags(); flags.HasAvailableFlags() {
		p.macro("SH", "OPTIONS")
		p.flags(flags)
	}
	p.macro("SH", "EXIT STATUS")
	for _, code := range [][2]string{
		{"0", "Everything is as it should be. A hook always ends with 0."},
		{"1", "Something inside went wrong, or a check found something."},
		{"2", "The command line or an input needs correcting; one sentence on standard error says how."},
	} {
		p.macro("TP")
		p.bold(code[0])
		p.line(code[1])
	}
	if root.Example != "" {
		p.macro("SH", "EXAMPLES")
		p.code(root.Example)
	}
	return p.Bytes()
}

// page is a man page in the making.
type page struct{ bytes.Buffer }

// commands describes every command below parent that people may use.
func (p *page) commands(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		p.macro("SS", cmd.UseLine())
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		p.prose(text)
		p.flags(cmd.NonInheritedFlags())
		if cmd.Example != "" {
			p.macro("PP")
			p.code(cmd.Example)
		}
		p.commands(cmd)
	}
}

func (p *page) flags(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + value
		}
		p.macro("TP")
		p.bold(name)
		p.line(usage)
	})
}

// prose writes paragraphs, and as they stand those that are indented.
func (p *page) prose(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		p.macro("PP")
		if strings.HasPrefix(paragraph, " ") {
			p.code(paragraph)
		} else {
			p.line(paragraph)
		}
	}
}

// code writes lines that keep their breaks and spaces.
func (p *page) code(text string) {
	p.macro("nf")
	p.line(text)
	p.macro("fi")
}

func (p *page) bold(text string) { p.macro("B", text) }

// macro writes a request with its arguments.
func (p *page) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, arg := range args {
		fmt.Fprintf(p, ` "%s"`, strings.ReplaceAll(escape(arg), `"`, `\(dq`))
	}
	p.WriteByte('\n')
}

// line writes text, none of whose lines is taken for a request.
func (p *page) line(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			p.WriteString(`\&`)
		}
		p.WriteString(escape(line) + "\n")
	}
}

// escape keeps characters from being taken for something else: a hyphen must
// stay one, so that options can be copied.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\&...`, "→", `\(->`, "·", `\(pc`).Replace(s)
}

func uncapitalise(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToLower(s[:1]) + s[1:]
}

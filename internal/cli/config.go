package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/registry"
	"github.com/ccreload/ccreload/internal/term"
)

func (a *app) configCommand() *cobra.Command {
	c := configuring{app: a}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change the settings of a project",
		Long: `Show and change the settings of a project.

A setting of the project (config in .reload or .handoff) counts before the
plugin's option of the same name, and that before the plugin's default. A file
that git tracks came with the repository and counts for nothing.

The settings are those of the plugins you use here. Where two of them have one
of the same name, --plugin says which is meant.`,
		Example: `  ccreload config get
  ccreload config get context_budget_pct
  ccreload config set context_budget_pct 30
  ccreload config set context_budget_mode snapshot
  ccreload config set --plugin cc-reload headless on
  ccreload config unset context_budget_pct`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&c.only, "plugin", "", "only the settings of the plugin `NAME`")
	cmd.AddCommand(c.get(), c.set(), c.unset())
	return cmd
}

// configuring is a run of ccreload config.
type configuring struct {
	*app
	only string // the plugin that was named, "" for none
}

func (c *configuring) get() *cobra.Command {
	return &cobra.Command{
		Use:   "get [KEY]",
		Short: "Print the value in force, or all of them with where they come from",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				p, err := c.find(args[0])
				if err != nil {
					return err
				}
				c.warn(p.Unknown())
				for _, e := range p.Entries() {
					if e.Key == args[0] {
						c.warn(e.Ignored)
						fmt.Fprintln(c.stdout, e.Value)
					}
				}
				return nil
			}
			list, err := c.candidates()
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
			for _, p := range list {
				c.warn(p.Unknown())
				for _, e := range p.Entries() {
					c.warn(e.Ignored)
					value := e.Value
					if value == "" {
						value = "-"
					}
					fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Name(), e.Key, value, e.Source)
				}
			}
			return table.Flush()
		},
	}
}

// warn names what was set and counts for nothing.
func (c *configuring) warn(ignored []string) {
	for _, why := range ignored {
		fmt.Fprintf(c.stderr, "ccreload: ignored, %s\n", term.Visible(why))
	}
}

func (c *configuring) set() *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Set a value for this project",
		Example: `  ccreload config set context_budget_pct 30
  ccreload config set context_budget_mode snapshot`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[1] == "" {
				return problem.Input("`ccreload config unset "+args[0]+"` takes the project's value away", "the value of %q is empty", args[0])
			}
			value, err := c.write(args[0], args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "%s is %s in this project now.\n", args[0], value)
			return err
		},
	}
}

// valueLast puts the value of a config set that is a negative number behind a
// "--", for it to be refused as a value and not as a flag nobody knows.
func valueLast(args []string) []string {
	verb := slices.Index(args, "set")
	if verb < 0 || !slices.Contains(args[:verb], "config") || slices.Contains(args, "--") {
		return args
	}
	for i := verb + 1; i < len(args); i++ {
		if a := args[i]; len(a) > 1 && a[0] == '-' && '0' <= a[1] && a[1] <= '9' {
			return append(slices.Concat(args[:i], args[i+1:]), "--", a)
		}
	}
	return args
}

func (c *configuring) unset() *cobra.Command {
	return &cobra.Command{
		Use:   "unset KEY",
		Short: "Take the project's value away",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := c.write(args[0], ""); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.stdout, "%s is not set in this project any more.\n", args[0])
			return err
		},
	}
}

func (c *configuring) write(key, value string) (string, error) {
	p, err := c.find(key)
	if err != nil {
		return "", err
	}
	return p.Set(key, value)
}

// find returns the plugin that a key belongs to.
func (c *configuring) find(key string) (options.Plugin, error) {
	list, err := c.candidates()
	if err != nil {
		return options.Plugin{}, err
	}
	return options.Find(list, key)
}

// noPlugin is the error about a name that is no plugin's.
func noPlugin(name string) error {
	return problem.Input("the plugins are "+strings.Join(registry.Names(), ", "), "there is no plugin %q", name)
}

// candidates returns the options of the plugin that was named, else of those that
// the host runs in this project, else of all there are.
func (c *configuring) candidates() ([]options.Plugin, error) {
	if c.only != "" && !slices.Contains(registry.Names(), c.only) {
		return nil, noPlugin(c.only)
	}
	project, err := c.project()
	if err != nil {
		return nil, err
	}
	var all, used []options.Plugin
	for _, of := range registry.Plugins() {
		if c.only != "" && c.only != of.Name {
			continue
		}
		p, err := c.options(of, project)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
		if c.enabled(of.Name, project) {
			used = append(used, p)
		}
	}
	if len(used) > 0 {
		return used, nil
	}
	return all, nil
}

// options returns what can be set for a plugin in a project.
func (a *app) options(of *plugin.Plugin, project string) (options.Plugin, error) {
	at, err := a.at(of, project)
	return of.Options(at), err
}

// at is where a command looks at a plugin. The user's options are what the host
// says to hooks and, for what is none, what its settings say: they count before
// what the newest session has stamped.
func (a *app) at(of *plugin.Plugin, project string) (plugin.Place, error) {
	profile, err := a.profile(of.Name)
	at := plugin.Place{Project: project, Data: a.dataOf(of.Name), Profile: profile, Host: a.host, Env: a.env}
	set := a.userOptions(profile, project)
	at.Host.Option = func(key string) string { return cmp.Or(a.host.Option(key), set[key]) }
	return at, err
}

// userOptions returns what the user has set for a plugin in the host's settings,
// by key.
func (a *app) userOptions(profile host.Profile, project string) map[string]string {
	set := map[string]string{}
	files := a.settingsFiles(project)
	slices.Reverse(files) // the nearest last, so that it wins
	for _, path := range files {
		s, err := readSettings(path)
		if err != nil {
			continue
		}
		for id, p := range s.Plugins {
			if name, _, _ := strings.Cut(id, "@"); name != profile.Plugin {
				continue
			}
			for _, o := range profile.Options {
				switch v := p.Options[o.Key].(type) {
				case nil:
				case float64:
					set[o.Key] = strconv.FormatFloat(v, 'f', -1, 64)
				default:
					set[o.Key] = fmt.Sprint(v)
				}
			}
		}
	}
	return set
}

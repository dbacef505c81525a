package gencli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/term"
)

func initCommand() *cobra.Command {
	var bare bool
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Begin a fork: write manifest, template and prose into DIR",
		Long: `Write gen/manifest.yaml, gen/content/, plugin.tmpl and a FORK.md that says how to
go on. It needs no Go and no network, and it overwrites nothing. The runtime of the
fork is that of the release this program is from, pinned by sha256. With --bare it is no fork: a
manifest with one plugin that has nothing of ours.`,
		Example: `  ccreload-gen init my-plugins
  ccreload-gen init --bare my-plugins
  ccreload-gen init . && ccreload-gen generate`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := directory(cmd, args)
			if err != nil {
				return err
			}
			files, err := gen.Init(dir, ccreload.PluginTemplate, bare)
			if err != nil {
				return err
			}
			shown := func(path string) string { return term.Line(filepath.Join(dir, filepath.FromSlash(path))) }
			for _, f := range files {
				fmt.Fprintln(cmd.OutOrStdout(), shown(f))
			}
			if !bare && !gen.Pinned() {
				fmt.Fprintln(cmd.ErrOrStderr(), "note: this ccreload-gen is from no release, so it knows none that has the runtime for your users; FORK.md says how to name one")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "edit %s, then run: ccreload-gen generate %s\n",
				shown(gen.ManifestPath), shown(""))
			return err
		},
	}
	cmd.Flags().BoolVar(&bare, "bare", false, "begin without the plugins of ccreload")
	return cmd
}

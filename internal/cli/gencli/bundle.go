package gencli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

func bundleCommand() *cobra.Command {
	var out string
	var fetch, dryRun bool
	from := gen.Bundling{Getenv: os.Getenv}
	cmd := &cobra.Command{
		Use:   "bundle [--binaries DIR] [--fetch] --out DIR",
		Short: "Pack each plugin with its program for all platforms, for a release",
		Long: `Write one zip per plugin, with its program for every platform of the manifest
inside, and a marketplace.json that names them by URL and sha256. The zips have
the same bytes whenever they are made from the same files.

The programs, of plugins that have one, are builds in the directory of --binaries, NAME-OS-ARCH or as
goreleaser lays them out. With --fetch, what is not there is downloaded from the
release that the manifest names, and held against the sha256 in
gen/checksums.txt. Platforms for which there is neither are named and left out.

It also records what this version stands for: the sha256 of each program in
gen/checksums.txt, which the launchers hold a download against, and the content
of each plugin in gen/released.json. Other content under the same version is
refused from then on. release/marketplace.json is the marketplace.json of the
release, for users to add. Commit these files. With --dry-run nothing is recorded.`,
		Example: `  ccreload-gen bundle --out dist
  ccreload-gen bundle --binaries dist --out dist/bundles
  ccreload-gen bundle --fetch --out dist/bundles
  ccreload-gen bundle --binaries dist --out /tmp/try --dry-run`,
		Args: cobra.NoArgs,
		RunE: onProject(func(cmd *cobra.Command, p *gen.Project) error {
			if err := p.CanBundle(from.Binaries != "" || fetch); err != nil {
				return err
			}
			// Before anything is recorded.
			if err := os.MkdirAll(out, 0o755); err != nil {
				return unwritable(out, err)
			}
			if from.Record = !dryRun; fetch {
				from.Fetch = func(url string) ([]byte, error) {
					fmt.Fprintf(cmd.ErrOrStderr(), "fetching %s\n", term.Line(url))
					return download(url)
				}
			}
			bundle, err := p.Bundle(from)
			if err != nil {
				return err
			}
			for _, name := range slices.Sorted(maps.Keys(bundle.Files)) {
				path := filepath.Join(out, name)
				if err := state.WriteFile(path, bundle.Files[name], 0o644); err != nil {
					return unwritable(path, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes\n", term.Line(path), len(bundle.Files[name]))
			}
			for _, name := range bundle.Missing {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: there is no %s, so it is in no zip\n", name)
			}
			for _, name := range bundle.Again {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: the same release had %s before: raise the version at the top of %s, which is that of the release\n", term.Line(name), gen.ManifestPath)
			}
			if dryRun {
				return nil
			}
			for _, r := range bundle.Releases {
				what := strings.Join(r.Files, ", ")
				if len(bundle.Releases) == 1 && len(r.Files) == len(bundle.Files) {
					what = "these files"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "next: attach %s to the release %s of %s\n", term.Line(what), term.Line(r.Tag), term.Line(r.Repository))
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&from.Binaries, "binaries", "", "directory with the builds")
	cmd.Flags().BoolVar(&fetch, "fetch", false, "download what is not there from the release in the manifest")
	cmd.Flags().StringVar(&out, "out", "", "directory to write to")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "record nothing in gen/")
	if err := cmd.MarkFlagRequired("out"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

const (
	largest         = 100 << 20 // bytes of a program, as in the launcher
	downloadTimeout = 5 * time.Minute
)

// download returns what a server has at url. It follows redirects, but not from
// https to anything else.
func download(url string) ([]byte, error) {
	client := http.Client{
		Timeout: downloadTimeout,
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			switch {
			case len(before) > 5:
				return errors.New("it leads from one address to the next without end")
			case before[0].URL.Scheme == "https" && next.URL.Scheme != "https":
				return errors.New("it leads to an address that is not https")
			}
			return nil
		},
	}
	answer, err := client.Get(url)
	if err != nil {
		return nil, gen.Cause(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, largest+1))
	if err == nil && len(data) > largest {
		err = fmt.Errorf("it is larger than %d MB", largest>>20)
	}
	return data, err
}

// unwritable says what to do about a place for bundles that cannot be written.
func unwritable(path string, err error) error {
	return problem.Input("name another directory with --out and run the command again", "%q cannot be written: %w", path, gen.Cause(err))
}

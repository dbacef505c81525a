package gencli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/gen"
)

func validateCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate [PATH]",
		Short: "Hold a plugin, a marketplace, a manifest or a recording against the rules",
		Long: `Check what PATH is against the JSON schemas and against what the host would
refuse or silently ignore. PATH is the directory of a plugin or of a
marketplace, or a repository that is one; a manifest (.yaml); or a recording
(.jsonl, - for standard input). Without PATH it is the directory named by -C.
Exit code 1 means that it found something a host refuses. What a host passes
over, and the house rules of this project, are warnings; in a plugin that our
runtime answers, and with --strict, they are errors.`,
		Example: `  ccreload-gen validate marketplace/plugins/cc-reload
  ccreload-gen validate --strict gen/manifest.yaml
  ccreload record export | ccreload-gen validate -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			what, warnings, err := validate(cmd, args)
			if strict && len(warnings) > 0 {
				found, _ := errors.AsType[gen.Problems](err)
				err, warnings = append(found, warnings...), nil
			}
			if err := failed(cmd, err); err != nil {
				warn(cmd, warnings)
				return err
			}
			warn(cmd, warnings)
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: valid\n", what)
			return err
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	return cmd
}

// warn prints what a person should know that keeps nothing from working.
func warn(cmd *cobra.Command, warnings gen.Problems) {
	for _, w := range warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
	}
}

// note prints the warnings about a project, and of the rules that are not
// those of a host only how many they are.
func note(cmd *cobra.Command, warnings gen.Problems) {
	house, others := warnings.House()
	warn(cmd, others)
	if len(house) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "house rules not kept: %d; `ccreload-gen validate DIR` names them\n", len(house))
	}
}

// validate returns what it has looked at, with warnings; the error is Problems
// when that is not valid.
func validate(cmd *cobra.Command, args []string) (what string, warnings gen.Problems, err error) {
	if len(args) == 1 && args[0] == "-" {
		data, err := io.ReadAll(cmd.InOrStdin())
		if err != nil {
			return "", nil, fmt.Errorf("standard input cannot be read: %w", err)
		}
		return "recording", nil, gen.ValidateRecording("standard input", data)
	}
	path, err := directory(cmd, args)
	if err != nil {
		return "", nil, err
	}
	return gen.Validate(path)
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print a JSON schema, that of the manifest without NAME",
		Long: "Print a JSON schema, for editors and other tools. There are " +
			strings.Join(gen.Schemas(), ", ") + ".",
		Example: `  ccreload-gen schema > manifest.schema.json
  ccreload-gen schema recording`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: gen.Schemas(),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "manifest"
			if len(args) == 1 {
				name = args[0]
			}
			data, err := gen.Schema(name)
			if err != nil {
				return err
			}
			_, err = io.Copy(cmd.OutOrStdout(), bytes.NewReader(data))
			return err
		},
	}
}

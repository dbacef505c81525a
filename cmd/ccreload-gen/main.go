// Command ccreload-gen writes every file of the ccreload plugins from one
// manifest.
package main

import (
	"os"

	"github.com/ccreload/ccreload/internal/cli/gencli"
)

func main() {
	os.Exit(gencli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

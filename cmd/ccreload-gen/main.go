// Command ccreload-gen writes every file of the ccreload plugins from one
// manifest.
package main

import (
	"os"
	"runtime/debug"

	"github.com/ccreload/ccreload/internal/cli/gencli"
	_ "github.com/ccreload/ccreload/internal/oneproc" // one goroutine does it all
)

func main() {
	debug.SetGCPercent(400) // most runs are over before there is anything to collect
	os.Exit(gencli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

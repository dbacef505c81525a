// Command ccreload is the hook runtime of every plugin of this marketplace,
// and the command line that people and slash commands use.
package main

import (
	"os"

	_ "github.com/ccreload/ccreload/cmd/ccreload/internal/early" // most hooks end there
	"github.com/ccreload/ccreload/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

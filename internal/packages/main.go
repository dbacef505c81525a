// Command packages writes what packages need beside the programs, for the
// release:
//
//	go run ./internal/packages files DIR
//	go run ./internal/packages npm DIST DIR
//
// The first compresses the man pages in DIR/man and writes, into DIR/packages,
// the changelog and the copyright as Debian wants them, and the licenses of
// what is linked. The second packs the builds that goreleaser left in DIST for
// npm. It needs no network, and makes the same bytes from the same commit:
// SOURCE_DATE_EPOCH is the date of what has none.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// maintainer stands in the packages that name one; .goreleaser.yaml says the same.
const maintainer = "ccreload authors <ccreload@users.noreply.github.com>"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "files":
		seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		return writeFiles(args[1], time.Unix(seconds, 0).UTC())
	case len(args) == 3 && args[0] == "npm":
		return writeNPM(args[1], args[2])
	}
	return errors.New("usage: packages files DIR | packages npm DIST DIR")
}

// compress returns data as gzip -9n does: with no name and no date.
func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

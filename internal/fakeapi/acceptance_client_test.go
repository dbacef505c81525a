//go:build acceptance

// The acceptance tests drive the real Claude Code, headless and on a terminal,
// against the loopback API of this package:
//
//	go test -tags acceptance -timeout 15m ./internal/fakeapi
//
// They need tmux, git, and npm the first time. CLIENT_VERSION chooses the
// client (2.1.332 when unset); it is installed below .client/VERSION, which
// git ignores. RELEASE names a directory that make snapshot has filled: its
// programs and bundles are then installed instead of what is built from the tree. A
// test that asks for something the chosen client does not know
// is skipped and says since which version it is known.
package fakeapi_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
)

// defaultClient is the version the acceptance tests must pass with.
const defaultClient = "2.1.332"

// hiddenBanner is the first client whose default renderer does not show a
// systemMessage of the SessionStart after /clear (docs/host.md, Output).
const hiddenBanner = "2.1.265"

// setup is what all tests share. It is written by TestMain only.
var setup struct {
	version string                 // of the client
	client  string                 // its binary
	root    string                 // the repository
	release string                 // a directory of make snapshot, or ""
	runtime func() (string, error) // builds ccreload from this tree, once, and returns its path
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ccreload-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		return 1
	}
	return m.Run()
}

// prepare installs the client unless it is there already. dir is where the
// runtime will be built.
func prepare(dir string) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	setup.root = root
	setup.version = os.Getenv("CLIENT_VERSION")
	if setup.version == "" {
		setup.version = defaultClient
	}
	if setup.client, err = installClient(root, setup.version); err != nil {
		return err
	}
	if setup.release = os.Getenv("RELEASE"); setup.release != "" && !filepath.IsAbs(setup.release) {
		setup.release = filepath.Join(root, setup.release)
	}
	setup.runtime = sync.OnceValues(func() (string, error) { return buildRuntime(root, dir) })
	return nil
}

func buildRuntime(root, dir string) (string, error) {
	binary := filepath.Join(dir, "ccreload")
	if setup.release != "" {
		found, err := filepath.Glob(filepath.Join(setup.release, "ccreload_"+runtime.GOOS+"_"+runtime.GOARCH+"_*", "ccreload"))
		if err != nil || len(found) != 1 {
			return "", fmt.Errorf("RELEASE: %s has %d programs for this machine (%w)", setup.release, len(found), err)
		}
		return found[0], nil
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./cmd/ccreload")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the runtime: %w\n%s", err, out)
	}
	return binary, nil
}

// installClient returns the path of the client's native binary.
func installClient(root, version string) (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	prefix := filepath.Join(root, ".client", version)
	binary := filepath.Join(prefix, "node_modules", "@anthropic-ai",
		fmt.Sprintf("claude-code-%s-%s", runtime.GOOS, arch), "claude")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	npm := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
		"--prefix", prefix, "@anthropic-ai/claude-code@"+version)
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install client %s: %w\n%s", version, err, out)
	}
	if _, err := os.Stat(binary); err != nil {
		return "", fmt.Errorf("client %s has no binary for this machine: %w", version, err)
	}
	return binary, nil
}

// needs skips the test when the client is older than version.
func needs(t *testing.T, version, what string) {
	t.Helper()
	if !host.AtLeast(setup.version, version) {
		t.Skipf("client %s: %s needs %s", setup.version, what, version)
	}
}

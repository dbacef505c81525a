package cli

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/state"
)

// sums holds what the plugins run against the sha256 that came with them, and says
// how it is held against the release.
func (c *checkup) sums() {
	if len(c.plugins) == 0 {
		c.Note("plugins", "", "none is installed")
	}
	for _, p := range c.plugins {
		c.sum(p)
	}
}

func (c *checkup) sum(p installed) {
	const check = "runtime"
	said, err := c.launch(p, versionTimeout)
	version, path, _ := strings.Cut(said, " ")
	if err != nil || path == "" {
		c.Bad(check, "ccreload doctor", "%s finds no runtime: %v", p.Name, err)
		return
	}
	sum, err := sumOfFile(path)
	if err != nil {
		c.Error(check, err)
		return
	}
	asset := "ccreload-" + runtime.GOOS + "-" + runtime.GOARCH
	if runtime.GOOS == "windows" {
		asset += ".exe"
	}
	list := filepath.Join(p.Root, "bin", "checksums.txt")
	text, _ := os.ReadFile(list) // none pins nothing
	want, ok := pinned(text, asset)
	runs := fmt.Sprintf("%s runs %s, version %s, sha256 %s: ", p.Name, path, version, sum)
	ours := state.Within(state.RealPath(p.Root), path) || p.Data != "" && state.Within(state.RealPath(p.Data), path)
	switch {
	case !ok:
		c.Note(check, "", "%sno sha256 of it came with the plugin", runs)
	case sum == want:
		c.OK(check, "%sthe one that %s has for %s", runs, list, asset)
	case ours && version == p.runtime():
		c.Bad(check, "delete it: the next session fetches it anew", "%s%s has %s for %s", runs, list, want, asset)
	default:
		c.Note(check, "", "%sit is not the released %s, %s: %s", runs, p.runtime(), want, whyRuns(path, c.env.Getenv(binVar), p))
	}
	if c.commands == nil && ok {
		c.commands = releaseCommands(p, path, asset)
	}
}

// releases is the line of a launcher that says where its runtime comes from.
var releases = regexp.MustCompile(`(?m)^releases=https://github\.com/([\w.-]+/[\w.-]+)/releases$`)

// releaseCommands are those that check the runtime at path as the asset of a release,
// none where the launcher does not say of which.
func releaseCommands(p installed, path, asset string) []string {
	launcher, _ := os.ReadFile(filepath.Join(p.Root, "bin", "ccreload")) // none says nothing
	m := releases.FindSubmatch(launcher)
	if m == nil {
		return nil
	}
	repo, tag := string(m[1]), "v"+p.runtime()
	return []string{
		"gh attestation verify " + shell.Quote(path) + " --repo " + repo,
		"",
		"curl -fsSLO https://github.com/" + repo + "/releases/download/" + tag + "/checksums.txt",
		"curl -fsSLO https://github.com/" + repo + "/releases/download/" + tag + "/checksums.txt.sigstore.json",
		"cosign verify-blob checksums.txt --bundle checksums.txt.sigstore.json \\",
		"  --certificate-identity https://github.com/" + repo + "/.github/workflows/release.yml@refs/tags/" + tag + " \\",
		"  --certificate-oidc-issuer https://token.actions.githubusercontent.com",
		"grep ' " + asset + "$' checksums.txt",
	}
}

func sumOfFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum, err := sumOf(f)
	return hex.EncodeToString(sum[:]), err
}

package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

func (a *app) pluginDirCommand() *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use:   "plugin-dir PLUGIN",
		Short: "Write a plugin with this program in it, and print where it is",
		Long: `Write the plugin that this program was built with, with this program in it, to
your data directory, and print the directory: for clients that ask a command where
a plugin is (see ccreload setup), and for claude --plugin-dir. What is there and
right is left as it is. After an upgrade of the program it prints another
directory; the one before is kept.

With --profile the plugin obeys the ccreload.json of a fork.`,
		Example: `  ccreload plugin-dir cc-reload
  claude --plugin-dir "$(ccreload plugin-dir cc-reload)"
  ccreload plugin-dir cc-reload --profile my-plugins/marketplace/plugins/cc-reload/ccreload.json`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: ccreload.Plugins(),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.pluginDir(args[0], profile)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, dir)
			return err
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "the ccreload.json of a fork")
	return cmd
}

// dataDir is where this program keeps what is its own and no plugin's.
func (a *app) dataDir() (string, error) {
	system, below := "XDG_DATA_HOME", filepath.Join(".local", "share")
	if runtime.GOOS == "windows" {
		system, below = "LOCALAPPDATA", filepath.Join("AppData", "Local")
	}
	base := a.env.Getenv(system)
	if !filepath.IsAbs(base) {
		if a.host.Home == "" {
			return "", problem.Input("set HOME to a directory of yours", "nobody says where your files are")
		}
		base = filepath.Join(a.host.Home, below)
	}
	return filepath.Join(base, "ccreload"), nil
}

// pluginDir writes a plugin and returns its directory. The name of that says what
// is in it, so that nothing is ever replaced that a client may be reading.
func (a *app) pluginDir(plugin, profile string) (string, error) {
	if !slices.Contains(ccreload.Plugins(), plugin) {
		return "", problem.Input("the plugins are "+strings.Join(ccreload.Plugins(), ", "), "there is no plugin %q%s", plugin, near(plugin, ccreload.Plugins()))
	}
	files, err := pluginFiles(plugin, profile)
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	data, err := a.dataDir()
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	name := "ccreload-" + runtime.GOOS + "-" + runtime.GOARCH
	if runtime.GOOS == "windows" {
		name = "ccreload.exe" // by which exec form finds it
	}
	files["bin/"+name] = program
	all := filepath.Join(data, "plugins", plugin)
	digest, err := digestOf(files)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(all, digest)
	if holds(dir, files) {
		return dir, nil
	}
	if err := writePlugin(all, dir, files, "bin/"+name, self); err != nil {
		return "", problem.Fault("make it writable for you", "%q cannot be written: %w", all, err)
	}
	keepTwo(all, dir)
	return dir, nil
}

func near(word string, known []string) string {
	if n := host.Nearest(word, known); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// pluginFiles returns what was compiled in of a plugin, by path, with the profile
// of a fork in its place.
func pluginFiles(plugin, profile string) (map[string][]byte, error) {
	files := map[string][]byte{}
	root := "marketplace/plugins/" + plugin
	err := fs.WalkDir(ccreload.Files, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[strings.TrimPrefix(path, root+"/")], err = ccreload.Files.ReadFile(path)
		return err
	})
	if err != nil || profile == "" {
		return files, err
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		return nil, problem.Input("name the ccreload.json of a fork's plugin", "%q cannot be read: %w", profile, err)
	}
	p, err := host.DecodeProfile(data)
	if err != nil {
		return nil, problem.Input("name the ccreload.json of a fork's plugin", "%q: %w", profile, err)
	}
	if p.Plugin != plugin {
		return nil, problem.Input("take the ccreload.json of its "+plugin, "%q is that of the plugin %q", profile, p.Plugin)
	}
	const manifest = ".claude-plugin/plugin.json"
	files["ccreload.json"] = data
	files[manifest], err = withProfile(files[manifest], p)
	return files, err
}

// withProfile returns a plugin.json with the version and the defaults of p.
func withProfile(data []byte, p host.Profile) ([]byte, error) {
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if p.Version != "" {
		file["version"] = p.Version
	}
	dialog, _ := file["userConfig"].(map[string]any)
	for key, field := range dialog {
		field, _ := field.(map[string]any)
		o, ok := p.Option(key)
		if !ok || o.Default == "" {
			continue
		}
		field["default"] = any(o.Default)
		switch field["type"] {
		case "boolean":
			field["default"] = o.Default == "on"
		case "number":
			n, err := strconv.Atoi(o.Default)
			if err != nil {
				n = 0 // off
			}
			field["default"] = n
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(file)
	return b.Bytes(), err
}

// digestOf names what is in files.
func digestOf(files map[string][]byte) (string, error) {
	var parts []io.Reader
	for _, path := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, strings.NewReader(fmt.Sprintf("%s\x00%d\x00", path, len(files[path]))), bytes.NewReader(files[path]))
	}
	sum, err := sumOf(io.MultiReader(parts...))
	return hex.EncodeToString(sum[:])[:12], err
}

// holds reports whether dir has these files, as they are to be.
func holds(dir string, files map[string][]byte) bool {
	for path, data := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
			return false
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			return false
		}
	}
	return true
}

// writePlugin puts the files into dir, below all, in one step. The program in it is
// the one at self, which takes no room where the file system can link it.
func writePlugin(all, dir string, files map[string][]byte, program, self string) error {
	if err := os.MkdirAll(all, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(all, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // fails once it is renamed
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	for path, data := range files {
		to := filepath.Join(temp, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if path == program && os.Link(self, to) == nil {
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(path, "bin/") {
			mode = 0o755
		}
		if err := os.WriteFile(to, data, mode); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, dir); err == nil || holds(dir, files) {
		return nil // or another process was as fast
	}
	// One that was damaged.
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// keepTwo removes the directories in all but for keep and the newest other one,
// from which a client may just be copying.
func keepTwo(all, keep string) {
	entries, _ := os.ReadDir(all) // what cannot be listed stays
	newest, at := "", time.Time{}
	var others []string
	for _, e := range entries {
		path := filepath.Join(all, e.Name())
		info, err := e.Info()
		if err != nil || path == keep || !e.IsDir() || strings.HasPrefix(e.Name(), ".new-") && time.Since(info.ModTime()) < time.Hour {
			continue
		}
		others = append(others, path)
		if info.ModTime().After(at) {
			newest, at = path, info.ModTime()
		}
	}
	for _, path := range others {
		if path != newest {
			_ = os.RemoveAll(path) // next time
		}
	}
}

// servedDir returns the directory of what pluginDir and setup have written, if it
// is there.
func (a *app) servedDir() (string, bool) {
	dir, err := a.dataDir()
	if err != nil {
		return "", false
	}
	_, err = os.Lstat(dir)
	return dir, !errors.Is(err, fs.ErrNotExist)
}

package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
)

func TestFind(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	name := "claude"
	if runtime.GOOS == "windows" {
		name = "claude.exe"
	}
	local := filepath.Join(home, ".local", "bin", name)
	none := func(string) (string, error) { return "", errors.New("none") }
	onPath := func(string) (string, error) { return "/somewhere/claude", nil }
	if _, err := Find(host.Host{Home: home}, none); problem.Hint(err) == "" {
		t.Errorf("no client: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(local, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h    host.Host
		look func(string) (string, error)
		want string
	}{
		{host.Host{Home: home, Executable: local}, onPath, local},
		{host.Host{Home: home, Executable: local + "-gone"}, none, local},
		{host.Host{Home: home, Executable: home}, none, local},
		{host.Host{Home: home}, none, local},
	} {
		if got, err := Find(c.h, c.look); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c.h, got, err)
		}
	}
	if got, err := Find(host.Host{Home: home}, onPath); err != nil || !strings.HasSuffix(filepath.ToSlash(got), "/somewhere/claude") {
		t.Errorf("on PATH: %q, %v", got, err)
	}
}

func TestProbe(t *testing.T) {
	const help = "--setting-sources --strict-mcp-config --tools --permission-mode --session-id --output-format\n"
	for name, c := range map[string]struct {
		version, help string
		prompts       bool
		err           string
	}{
		"new":               {"2.1.332", help + "--permission-prompts <target>", true, ""},
		"old":               {"2.1.163", help + "--permission-prompts-x", false, ""},
		"too old":           {"2.1.100", help, false, "agents need 2.1.163 or later"},
		"other flags":       {"3.0.0", strings.Replace(help, "--tools ", "--tools-x ", 1), false, "does not know --tools"},
		"no version at all": {"hello\x1b[2J", help, false, "does not say its version"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			asked := filepath.Join(b.dir, "asked")
			environ := append(os.Environ(), "AGENT_TEST=client", "AGENT_VERSION="+c.version, "AGENT_HELP="+c.help, "AGENT_COUNT="+asked)
			for range 2 {
				client, err := b.store.Probe(t.Context(), os.Args[0], environ)
				if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || problem.Hint(err) == "" || strings.Contains(err.Error(), "\x1b")) {
					t.Errorf("%v", err)
				}
				if err == nil && client != (Client{os.Args[0], c.version, c.prompts}) {
					t.Errorf("%+v", client)
				}
			}
			if data, _ := os.ReadFile(asked); c.version != "hello\x1b[2J" && string(data) != "asked\n" {
				t.Errorf("it was not asked once: %q", data)
			}
		})
	}
	b := newBench(t)
	if _, err := b.store.Probe(t.Context(), filepath.Join(b.dir, "none"), nil); problem.Hint(err) == "" {
		t.Errorf("no program: %v", err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := b.store.Probe(ctx, os.Args[0], nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no time: %v", err)
	}
}

func TestParsePayer(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]Payer{
		`{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty","subscriptionType":"max"}`:                            {Kind: ByPlan},
		`{"loggedIn":true,"authMethod":"oauth_token","apiProvider":"firstParty"}`:                                                   {Kind: ByPlan},
		`{"loggedIn":true,"authMethod":"api_key","apiProvider":"firstParty","apiKeySource":"ANTHROPIC_API_KEY"}`:                    {ByKey, "ANTHROPIC_API_KEY"},
		`{"loggedIn":true,"authMethod":"oauth_token","apiProvider":"firstParty","apiKeySource":"apiKeyHelper"}`:                     {ByKey, "apiKeyHelper"},
		`{"loggedIn":true,"authMethod":"third_party","apiProvider":"bedrock"}`:                                                      {ByKey, "bedrock"},
		`{"loggedIn":true,"authMethod":"api_key_helper","apiProvider":"firstParty"}`:                                                {ByKey, "api_key_helper"},
		"{\n  \"loggedIn\": false,\n  \"authMethod\": \"none\",\n  \"apiProvider\": \"firstParty\",\n  \"apiKeySource\": null\n}\n": {Kind: Nobody},
	} {
		if got, ok := parsePayer([]byte(said)); !ok || got != want {
			t.Errorf("%s: %+v, %v", said, got, ok)
		}
	}
	for _, said := range []string{"", "Not logged in", "{}", `{"loggedIn":tr`, `[]`} {
		if got, ok := parsePayer([]byte(said)); ok {
			t.Errorf("%q: %+v", said, got)
		}
	}
}

func TestPayerAsksWithWhatAnAgentGets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script is no program there")
	}
	for name, c := range map[string]struct {
		said  string
		allow bool
		want  Payer
		err   bool
	}{
		"a plan besides a key that is not allowed": {`{"loggedIn":true,"authMethod":"oauth_token"}`, false, Payer{Kind: ByPlan}, false},
		"only a key, which is not allowed":         {`{"loggedIn":false,"authMethod":"none"}`, false, Payer{Withheld, "ANTHROPIC_AUTH_TOKEN"}, false},
		"a key that passes for a plan":             {`{"loggedIn":true,"authMethod":"oauth_token"}`, true, Payer{ByKey, "ANTHROPIC_AUTH_TOKEN"}, false},
		"no answer":                                {`Bye.`, true, Payer{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			script := filepath.Join(b.dir, "claude")
			text := "#!/bin/sh\nif [ -n \"$ANTHROPIC_AUTH_TOKEN\" ]; then echo key >" + b.dir + "/key; fi\n" +
				"echo \"$*\" >" + b.dir + "/args; echo '" + c.said + "'; exit 1\n"
			if err := proc.WriteProgram(script, text); err != nil {
				t.Fatal(err)
			}
			got, err := b.store.Payer(t.Context(), Client{Path: script}, []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_AUTH_TOKEN=k"}, c.allow)
			if got != c.want || (err != nil) != c.err || err != nil && problem.Hint(err) == "" {
				t.Errorf("%+v, %v", got, err)
			}
			if _, err := os.Stat(filepath.Join(b.dir, "key")); (err == nil) != c.allow {
				t.Errorf("it was given the key: %v", err == nil)
			}
			if args, _ := os.ReadFile(filepath.Join(b.dir, "args")); string(args) != "--setting-sources user auth status\n" {
				t.Errorf("it was asked %q", args)
			}
		})
	}
}

func TestOpenRules(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	for settings, want := range map[string]string{
		`{"permissions":{"allow":["Bash","Read","Bash(go test:*)","Edit(*)","Write(src/**)","Bash(*)","Edit(/**)","WebFetch"],"deny":["Bash"]}}`: "Bash Edit(*) Bash(*) Edit(/**)",
		`{"permissions":{"allow":[]}}`: "", `{"permissions":7}`: "", `{`: "", ``: "",
	} {
		if err := os.WriteFile(filepath.Join(config, "settings.json"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(OpenRules(host.Host{Config: config}), " "); got != want {
			t.Errorf("%s: %q", settings, got)
		}
	}
	if got := OpenRules(host.Host{}); got != nil {
		t.Errorf("no settings: %q", got)
	}
}

package host

import (
	"slices"
	"strings"
	"testing"
)

// hookVars is all that a hook of the real client was started with beside the
// person's own variables (2.1.332).
var hookVars = strings.Fields(`AI_AGENT=a CLAUDECODE=1 CLAUDE_CODE_CHILD_SESSION=1 CLAUDE_CODE_CHILD_NOTES_DIR=/n
	CLAUDE_CODE_ENTRYPOINT=cli CLAUDE_CODE_EXECPATH=/bin/claude CLAUDE_CODE_MESSAGING_SOCKET=/s CLAUDE_CODE_MESSAGING_TOKEN=secret
	CLAUDE_CODE_SESSION_ATTENDED=1 CLAUDE_CODE_SESSION_ID=x CLAUDE_EFFORT=high CLAUDE_PID=7 CLAUDE_PLUGIN_DATA=/d
	CLAUDE_PLUGIN_ROOT=/r CLAUDE_PROJECT_DIR=/p CLAUDE_PLUGIN_OPTION_A=1 COREPACK_ENABLE_AUTO_PIN=0
	NoDefaultCurrentDirectoryInExePath=1`)

func TestAgentEnvironKeepsTheCallerOut(t *testing.T) {
	keep := strings.Fields(`PATH=/bin HOME=/h LANG=C.UTF-8 LC_ALL=C TMPDIR=/t XDG_CONFIG_HOME=/x http_proxy=http://p HTTPS_PROXY=http://p
		NODE_EXTRA_CA_CERTS=/ca SystemRoot=C:\w ProgramFiles(x86)=C:\p CLAUDE_CONFIG_DIR=/c CLAUDE_CODE_OAUTH_TOKEN=plan
		ANTHROPIC_BASE_URL=http://g ANTHROPIC_DEFAULT_SONNET_MODEL=m DISABLE_TELEMETRY=1 GOPATH=/go VIRTUAL_ENV=/v CCRELOAD_BIN=/b`)
	drop := append(strings.Fields(`GIT_DIR=/g GIT_WORK_TREE=/w GIT_INDEX_FILE=/i GIT_OBJECT_DIRECTORY=/o GIT_CONFIG_COUNT=1
		GIT_AUTHOR_NAME=x SSH_AUTH_SOCK=/s GITHUB_TOKEN=t AWS_SECRET_ACCESS_KEY=t GOOGLE_APPLICATION_CREDENTIALS=/g NODE_OPTIONS=--require=x
		BASH_ENV=/b LD_PRELOAD=/l PWD=/p OLDPWD=/p TMUX=/t CCRELOAD_CHILD=0 CCRELOAD_AGENT=x
		ANTHROPIC_API_KEY=k ANTHROPIC_AUTH_TOKEN=k CLAUDE_NEW_THING=1 CLAUDE_CODE_USE_CCR_V2=1 =C:=C:\d broken`), hookVars...)
	got := AgentEnviron(append(append([]string{}, keep...), drop...), false)
	if want := append([]string{"CCRELOAD_CHILD=1"}, keep...); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAgentEnvironKeysAndClouds(t *testing.T) {
	parent := strings.Fields("ANTHROPIC_API_KEY=k AWS_PROFILE=p CLAUDE_CODE_USE_BEDROCK=1 CLAUDE_CODE_SKIP_BEDROCK_AUTH=1 CLAUDE_CODE_SKIP_PROMPT_HISTORY=1")
	if got, want := AgentEnviron(parent, true), strings.Fields("CCRELOAD_CHILD=1 ANTHROPIC_API_KEY=k AWS_PROFILE=p CLAUDE_CODE_USE_BEDROCK=1 CLAUDE_CODE_SKIP_BEDROCK_AUTH=1"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	parent[2] = "CLAUDE_CODE_USE_BEDROCK=0"
	if got := AgentEnviron(parent, true); slices.Contains(got, "AWS_PROFILE=p") {
		t.Errorf("a cloud that is not used gives its credentials: %q", got)
	}
	if KeyIn(parent) != "ANTHROPIC_API_KEY" || KeyIn([]string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_API_KEY="}) != "" || KeyIn(nil) != "" {
		t.Error("KeyIn")
	}
}

// What is written down for a timer: nothing of the session, no secret, and what the
// system sets itself is the system's.
func TestLasting(t *testing.T) {
	keep := strings.Fields(`PATH=/bin https_proxy=http://p:3128 NO_PROXY=a@b NODE_EXTRA_CA_CERTS=/ca GOPATH=/go CLAUDE_CONFIG_DIR=/c
		ANTHROPIC_BASE_URL=http://g/a@b ANTHROPIC_MODEL=m CCRELOAD_BIN=/b CLAUDE_CODE_USE_BEDROCK=1 CLAUDE_CODE_CLIENT_KEY=/k AWS_PROFILE=p`)
	secret := strings.Fields(`HTTP_PROXY=http://u:p@proxy CLAUDE_CODE_OAUTH_TOKEN=t ANTHROPIC_CUSTOM_HEADERS=X:y AWS_SECRET_ACCESS_KEY=s
		CLAUDE_CODE_CLIENT_KEY_PASSPHRASE=p`)
	drop := append(strings.Fields(`HOME=/h USER=u TMPDIR=/t XDG_RUNTIME_DIR=/r LANG=C ANTHROPIC_API_KEY=k CCRELOAD_OFF=1 CCRELOAD_DEBUG=1
		CCRELOAD_CHILD=1 GOFLAGS= SSH_AUTH_SOCK=/s GITHUB_TOKEN=t`), hookVars...)
	kept, withheld := Lasting(append(append(append([]string{}, drop...), keep...), secret...))
	if !slices.Equal(kept, keep) {
		t.Errorf("kept %q\nwant %q", kept, keep)
	}
	var names []string
	for _, s := range secret {
		name, _, _ := strings.Cut(s, "=")
		names = append(names, name)
	}
	if !slices.Equal(withheld, names) {
		t.Errorf("withheld %q\nwant     %q", withheld, names)
	}
}

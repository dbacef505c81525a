package host

import (
	"runtime"
	"strings"
)

// NoBackgroundVar, set to anything, keeps hooks from starting a process that
// outlives them: whoever replays hooks does so in a home that will be gone.
const NoBackgroundVar = "CCRELOAD_NO_BACKGROUND"

// ChildVar marks a client that we started ourselves: its hooks have nothing to
// say (case F11).
const ChildVar = "CCRELOAD_CHILD"

// MaxRetriesVar is how often the client tries a request again.
const MaxRetriesVar = "CLAUDE_CODE_MAX_RETRIES"

// keyVars are the keys that bill somebody for each token instead of using up a
// plan.
var keyVars = [...]string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN", "ANTHROPIC_AWS_API_KEY"}

// KeyIn returns the name of the first variable in an environment that holds a key
// billed for each token, "" for none.
func KeyIn(environ []string) string {
	for _, name := range keyVars {
		if value(environ, name) != "" {
			return name
		}
	}
	return ""
}

// AgentEnviron returns the environment of an agent, a client that works without
// anybody in front of it, from that of whoever starts it. A variable passes only
// by a rule, and these are the rules:
//
//   - the system: where programs, the home directory, temporary files and the
//     language are; on Windows what every program needs
//   - the way out: proxies and certificates
//   - where toolchains are, so that a build finds what it finds for the person
//   - of the host's own variables: where its settings are, who is logged in, which
//     provider, gateway and models, and what the person has switched off
//   - keys that bill for each token (KeyIn), only with allowKey
//   - credentials of a cloud, only where the host is told to use that cloud
//
// So nothing passes that says which session, project or plugin the caller belongs
// to, nor the token by which a process talks to that session, nor a repository or
// an identity of git, nor credentials for anything else: an agent must not push.
// ChildVar is added.
func AgentEnviron(parent []string, allowKey bool) []string {
	cloud := usesCloud(parent)
	out := []string{ChildVar + "=1"}
	for _, entry := range parent {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" { // Windows keeps the directory of each drive as "=C:=…"
			continue
		}
		name = strings.ToUpper(name)
		if isKey(name) && !allowKey {
			continue
		}
		if isKey(name) || systemVar(name) || toolchainVar(name) || hostVar(name) || cloud && cloudVar(name) {
			out = append(out, entry)
		}
	}
	return out
}

// value returns a variable of an environment; as for a program, the last entry
// counts.
func value(environ []string, name string) string {
	found := ""
	for _, entry := range environ {
		n, v, _ := strings.Cut(entry, "=")
		if n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name) {
			found = v
		}
	}
	return found
}

func isKey(name string) bool {
	for _, k := range keyVars {
		if name == k {
			return true
		}
	}
	return false
}

// usesCloud reports whether the host is told to ask a cloud for its models.
func usesCloud(environ []string) bool {
	for _, entry := range environ {
		name, v, _ := strings.Cut(entry, "=")
		if cloudSwitch(strings.ToUpper(name)) && truthy(v) {
			return true
		}
	}
	return false
}

func cloudSwitch(name string) bool {
	switch name {
	case "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_MANTLE",
		"CLAUDE_CODE_USE_ANTHROPIC_AWS", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "CLAUDE_CODE_USE_GATEWAY":
		return true
	}
	return false
}

// begins reports whether name begins with one of the words.
func begins(name string, words ...string) bool {
	for _, w := range words {
		if strings.HasPrefix(name, w) {
			return true
		}
	}
	return false
}

// systemVar has names in capitals: proxies are spelled either way, and Windows
// does not care.
func systemVar(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE",
		"LD_LIBRARY_PATH", "LOCALE_ARCHIVE", "NO_COLOR", "IS_SANDBOX",
		"SYSTEMROOT", "WINDIR", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "OS", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
		"USERNAME", "USERDOMAIN", "COMPUTERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC",
		"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)",
		"COMMONPROGRAMW6432", "PSMODULEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "WINEPREFIX", "WINEDLLOVERRIDES":
		return true
	}
	return begins(name, "LC_", "XDG_") || wayOut(name)
}

// wayOut knows proxies and certificates.
func wayOut(name string) bool {
	switch name {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE",
		"NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO":
		return true
	}
	return false
}

func toolchainVar(name string) bool {
	switch name {
	case "GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOPRIVATE", "GOSUMDB", "GOTOOLCHAIN", "GOENV",
		"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
		"NVM_DIR", "NVM_BIN", "FNM_DIR", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "COREPACK_HOME",
		"JAVA_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "SDKMAN_DIR",
		"PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PIPX_HOME", "POETRY_HOME", "UV_CACHE_DIR",
		"RBENV_ROOT", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "COMPOSER_HOME", "DOTNET_ROOT", "NUGET_PACKAGES",
		"ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY",
		"NIX_PATH", "NIX_PROFILES", "PKG_CONFIG_PATH", "CC", "CXX", "DEVELOPER_DIR", "SDKROOT":
		return true
	}
	return false
}

// hostVar knows which of the variables of the host are the person's own settings.
// What it does not know is the session's, and stays behind.
func hostVar(name string) bool {
	switch name {
	case ConfigVar, apiVar, no1MVar, autoCompactVar, shellVar, MaxRetriesVar,
		"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_SECURESTORAGE_CONFIG_DIR", "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
		"ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_SMALL_FAST_MODEL_AWS_REGION",
		"ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_FOUNDRY_BASE_URL",
		"ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_AWS_BASE_URL", "ANTHROPIC_AWS_WORKSPACE_ID", "ANTHROPIC_GOOGLE_CLOUD_BASE_URL",
		"CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_CLIENT_KEY", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE", "CLAUDE_CODE_CERT_STORE",
		"CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_TMPDIR",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "CLAUDE_CODE_ENABLE_TELEMETRY",
		"CCRELOAD_BIN", "CCRELOAD_OFF", "CCRELOAD_DEBUG", // its hooks are ours
		"API_TIMEOUT_MS", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS", "MAX_THINKING_TOKENS":
		return true
	}
	return cloudSwitch(name) || begins(name, "ANTHROPIC_DEFAULT_", "DISABLE_") ||
		begins(name, "CLAUDE_CODE_SKIP_") && strings.HasSuffix(name, "_AUTH")
}

func cloudVar(name string) bool {
	return name == "CLOUD_ML_REGION" || begins(name, "AWS_", "GOOGLE_", "GCLOUD_", "VERTEX_", "AZURE_")
}

// Lasting returns what of an environment holds for what the system starts later,
// without a terminal and without a session, so that the agents of that find what
// those of a session do: where programs are, the way out, toolchains, and the
// person's own settings of the host. It is to be written into a file, so secrets are
// left out; withheld are the names of those that an agent would have been given.
func Lasting(environ []string) (kept, withheld []string) {
	for _, entry := range AgentEnviron(environ, false) {
		name, v, _ := strings.Cut(entry, "=")
		upper := strings.ToUpper(name)
		switch {
		case upper == ChildVar, upper == "CCRELOAD_OFF", upper == "CCRELOAD_DEBUG", v == "":
		case upper != "PATH" && !wayOut(upper) && !toolchainVar(upper) && !hostVar(upper) && !cloudVar(upper):
		case secret(upper, v):
			withheld = append(withheld, name)
		default:
			kept = append(kept, entry)
		}
	}
	return kept, withheld
}

// secret reports whether a variable may hold something that must not be written
// down: by its name, or an address with a password in it.
func secret(name, v string) bool {
	if name == "CLAUDE_CODE_CLIENT_CERT" || name == "CLAUDE_CODE_CLIENT_KEY" || name == "GOOGLE_APPLICATION_CREDENTIALS" {
		return false // paths
	}
	for _, word := range [...]string{"TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "HEADERS"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	_, rest, ok := strings.Cut(v, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return ok && strings.Contains(authority, "@") || strings.ContainsAny(v, "\r\n\x00")
}

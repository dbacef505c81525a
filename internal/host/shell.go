package host

import "strings"

// ShellFinder is what the host asks the system when it looks for the shell of a
// command (docs/host.md, Windows).
type ShellFinder struct {
	Windows  bool
	Getenv   func(name string) string
	IsFile   func(path string) bool
	LookPath func(program string) string // where PATH has it, "" for nowhere
}

// ShellCommand returns the program and the arguments by which the host runs the
// command of a status line; none where it has no shell for it.
func (f ShellFinder) ShellCommand(command string) []string {
	if !f.Windows {
		return []string{"/bin/sh", "-c", command}
	}
	if bash := f.gitBash(); bash != "" {
		if strings.HasSuffix(firstWord(command), ".sh") {
			command = "bash " + command
		}
		return []string{bash, "-c", command}
	}
	shell := f.powerShell()
	if shell == "" {
		return nil
	}
	argv := []string{shell, "-NoProfile", "-NonInteractive"}
	if !truthy(f.Getenv(policyVar)) {
		argv = append(argv, "-ExecutionPolicy", "Bypass")
	}
	for _, name := range []string{ProjectVar, RootVar, DataVar} {
		command = strings.ReplaceAll(command, "${"+name+"}", "${env:"+name+"}")
	}
	return append(argv, "-Command", command)
}

// PowerShell reports whether the host runs commands in PowerShell: on Windows,
// where it finds no Git Bash.
func (f ShellFinder) PowerShell() bool { return f.Windows && f.gitBash() == "" }

// gitBash returns the bash of Git for Windows, "" for none. A bash on PATH does not
// count: it may be that of WSL.
func (f ShellFinder) gitBash() string {
	named := f.Getenv(shellVar)
	switch strings.ToLower(named[1+strings.LastIndexAny(named, `/\:`):]) {
	case "bash", "bash.exe", "sh", "sh.exe":
		if f.IsFile(named) {
			return named
		}
	}
	places := []string{`C:\Program Files\Git`, `C:\Program Files (x86)\Git`}
	if git := f.LookPath("git"); git != "" {
		places = append(places, parent(parent(git)))
	}
	for _, dir := range places {
		if bash := dir + `\bin\bash.exe`; f.IsFile(bash) {
			return bash
		}
	}
	return ""
}

// powerShell returns PowerShell 7 where there is one, else the one of Windows.
func (f ShellFinder) powerShell() string {
	if pwsh := f.LookPath("pwsh"); pwsh != "" {
		return pwsh
	}
	for _, place := range []struct{ dir, path string }{
		{f.Getenv("ProgramFiles"), `\PowerShell\7\pwsh.exe`},
		{f.Getenv("LOCALAPPDATA"), `\Microsoft\WindowsApps\pwsh.exe`},
		{f.Getenv("USERPROFILE"), `\.dotnet\tools\pwsh.exe`},
		{f.Getenv("SYSTEMROOT"), `\System32\WindowsPowerShell\v1.0\powershell.exe`},
	} {
		if place.dir != "" && f.IsFile(place.dir+place.path) {
			return place.dir + place.path
		}
	}
	return f.LookPath("powershell")
}

// parent returns the directory of a path of Windows.
func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, `/\`))] }

// firstWord returns the first word of a command as the host reads it.
func firstWord(command string) string {
	var word strings.Builder
	quote := rune(0)
	escaped := false
	for _, r := range strings.TrimSpace(command) {
		switch {
		case escaped:
			escaped = false
			word.WriteRune(r)
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '\\':
			escaped = true
		case strings.ContainsRune(" \t\r\n", r):
			return word.String()
		default:
			word.WriteRune(r)
		}
	}
	return word.String()
}

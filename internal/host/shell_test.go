package host

import (
	"slices"
	"testing"
)

// Which shell the client takes, and how; docs/host.md, Windows.
func TestShellCommand(t *testing.T) {
	const (
		windir = `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
		bash   = `C:\Program Files\Git\bin\bash.exe`
	)
	power := []string{"-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command"}
	in := func(shell string) []string { return append([]string{shell}, append(slices.Clone(power), "x")...) }
	for name, tt := range map[string]struct {
		unix    bool
		env     map[string]string
		files   []string
		path    map[string]string
		command string // "x" unless set
		want    []string
	}{
		"unix":                        {unix: true, want: []string{"/bin/sh", "-c", "x"}},
		"unix, a script":              {unix: true, command: "a.sh", want: []string{"/bin/sh", "-c", "a.sh"}},
		"named":                       {env: map[string]string{shellVar: `D:\g\bin\Bash.EXE`}, files: []string{`D:\g\bin\Bash.EXE`, bash}, want: []string{`D:\g\bin\Bash.EXE`, "-c", "x"}},
		"named with slashes, sh":      {env: map[string]string{shellVar: `D:/g/bin/sh`}, files: []string{`D:/g/bin/sh`}, want: []string{`D:/g/bin/sh`, "-c", "x"}},
		"named, not there":            {env: map[string]string{shellVar: `D:\g\bin\bash.exe`}, files: []string{bash}, want: []string{bash, "-c", "x"}},
		"named, another shell":        {env: map[string]string{shellVar: `D:\zsh.exe`}, files: []string{`D:\zsh.exe`, bash}, want: []string{bash, "-c", "x"}},
		"Program Files":               {files: []string{bash, `C:\Program Files (x86)\Git\bin\bash.exe`}, want: []string{bash, "-c", "x"}},
		"Program Files (x86)":         {files: []string{`C:\Program Files (x86)\Git\bin\bash.exe`}, path: map[string]string{"git": `D:\Git\cmd\git.exe`}, want: []string{`C:\Program Files (x86)\Git\bin\bash.exe`, "-c", "x"}},
		"beside git":                  {files: []string{`D:\Git\bin\bash.exe`}, path: map[string]string{"git": `D:\Git\cmd\git.exe`}, want: []string{`D:\Git\bin\bash.exe`, "-c", "x"}},
		"git without bash":            {path: map[string]string{"git": `D:\shims\git.exe`, "pwsh": `D:\pwsh.exe`}, want: in(`D:\pwsh.exe`)},
		"the bash of WSL":             {path: map[string]string{"bash": `C:\Windows\System32\bash.exe`, "powershell": windir}, want: in(windir)},
		"bash, a script":              {files: []string{bash}, command: ` "C:/a b/line.sh" -x`, want: []string{bash, "-c", `bash  "C:/a b/line.sh" -x`}},
		"bash, a script, escaped":     {files: []string{bash}, command: `C:/a\ b/line.sh`, want: []string{bash, "-c", `bash C:/a\ b/line.sh`}},
		"bash, no script":             {files: []string{bash}, command: `cat line.sh`, want: []string{bash, "-c", `cat line.sh`}},
		"bash, the project":           {files: []string{bash}, command: `"${CLAUDE_PROJECT_DIR}/l"`, want: []string{bash, "-c", `"${CLAUDE_PROJECT_DIR}/l"`}},
		"PowerShell 7 on PATH":        {env: map[string]string{"ProgramFiles": `C:\PF`}, files: []string{`C:\PF\PowerShell\7\pwsh.exe`}, path: map[string]string{"pwsh": `D:\pwsh.exe`}, want: in(`D:\pwsh.exe`)},
		"PowerShell 7 in its place":   {env: map[string]string{"ProgramFiles": `C:\PF`, "SYSTEMROOT": `C:\Windows`}, files: []string{`C:\PF\PowerShell\7\pwsh.exe`, windir}, want: in(`C:\PF\PowerShell\7\pwsh.exe`)},
		"PowerShell 7 of the Store":   {env: map[string]string{"LOCALAPPDATA": `C:\L`, "SYSTEMROOT": `C:\Windows`}, files: []string{`C:\L\Microsoft\WindowsApps\pwsh.exe`, windir}, want: in(`C:\L\Microsoft\WindowsApps\pwsh.exe`)},
		"PowerShell 7 as a .NET tool": {env: map[string]string{"USERPROFILE": `C:\U`, "SYSTEMROOT": `C:\Windows`}, files: []string{`C:\U\.dotnet\tools\pwsh.exe`, windir}, want: in(`C:\U\.dotnet\tools\pwsh.exe`)},
		"Windows PowerShell":          {env: map[string]string{"SYSTEMROOT": `C:\Windows`}, files: []string{windir}, path: map[string]string{"powershell": `D:\powershell.exe`}, want: in(windir)},
		"Windows PowerShell on PATH":  {path: map[string]string{"powershell": `D:\powershell.exe`}, want: in(`D:\powershell.exe`)},
		"the policy counts":           {env: map[string]string{policyVar: "1"}, path: map[string]string{"pwsh": `D:\pwsh.exe`}, want: []string{`D:\pwsh.exe`, "-NoProfile", "-NonInteractive", "-Command", "x"}},
		"PowerShell, the project":     {path: map[string]string{"pwsh": `D:\pwsh.exe`}, command: `& "${CLAUDE_PROJECT_DIR}/l"`, want: append(append([]string{`D:\pwsh.exe`}, power...), `& "${env:CLAUDE_PROJECT_DIR}/l"`)},
		"no shell at all":             {},
	} {
		t.Run(name, func(t *testing.T) {
			f := ShellFinder{
				Windows:  !tt.unix,
				Getenv:   func(name string) string { return tt.env[name] },
				IsFile:   func(path string) bool { return slices.Contains(tt.files, path) },
				LookPath: func(program string) string { return tt.path[program] },
			}
			command := tt.command
			if command == "" {
				command = "x"
			}
			if got := f.ShellCommand(command); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if got, want := f.PowerShell(), !tt.unix && (len(tt.want) == 0 || tt.want[1] != "-c"); got != want {
				t.Errorf("PowerShell: %v, want %v", got, want)
			}
		})
	}
}

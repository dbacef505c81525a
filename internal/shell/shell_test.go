package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./...": "go test",
		"cd /p/x && go test ./... 2>&1 | tail -20":      "go test",
		"CGO_ENABLED=0 GOOS=linux go build -o bin/x .":  "go build",
		"git -C /p/x commit -m 'a && b'":                "git commit",
		"git commit -m \"$(cat <<'EOF'\na; b\nEOF\n)\"": "git commit",
		"make":                                                        "make",
		"make -C sub lint":                                            "make lint",
		"npm run build:prod -- --watch":                               "npm run build:prod",
		"npm test":                                                    "npm test",
		"npx --yes vitest run src/a.test.ts":                          "npx vitest",
		"uv run pytest -k retry":                                      "uv run pytest",
		"python3 -m pytest tests/test_a.py -x":                        "python3 -m pytest",
		"python scripts/migrate.py --dry-run":                         "python migrate.py",
		"python3 -c 'import a; a.b()'":                                "python3",
		"node dist/main.js serve":                                     "node main.js",
		"bash ./deploy.sh prod":                                       "bash deploy.sh",
		"./scripts/release.sh 1.2":                                    "release.sh",
		"sudo -E systemctl restart nginx":                             "systemctl restart",
		"timeout 60 cargo test --lib":                                 "cargo test",
		"time go vet ./...":                                           "go vet",
		"docker compose -f x.yml up -d":                               "docker compose",
		"kubectl -n prod get pods":                                    "kubectl get",
		"terraform plan -out=p":                                       "terraform plan",
		"gofmt -l .":                                                  "gofmt",
		"rm -rf build && cmake -B build && ninja":                     "rm|cmake|ninja",
		"go vet ./...; go test ./a":                                   "go vet|go test",
		"# build it\ngo build ./...\n\ngo test ./...":                 "go build|go test",
		"cat > a.go <<'EOF'\npackage main; go test\nEOF\ngo run a.go": "go run",
		"(cd sub && make test) || echo failed":                        "make test",
		"for f in *.go; do gofmt -w $f; done":                         "gofmt",
		"ls -la; cat a.go | grep x; git status; git diff":             "",
		"cd sub && ls":                                                "",
		"sed -n 1,20p a.go":                                           "",
		"sed -i s/a/b/ a.go":                                          "sed",
		"grep -rn 'go test' .":                                        "",
		"":                                                            "",
		"   ":                                                         "",
		"&& | ;":                                                      "",
		"echo 'unfinished":                                            "",
		"git stash pop":                                               "git stash",
		"git log --oneline | head":                                    "",
		`C:\tools\node.exe x.js`:                                      "node.exe",
	} {
		var keys []string
		for _, c := range Commands(line) {
			if !c.LooksAround() {
				keys = append(keys, c.Key())
			}
		}
		if got := strings.Join(keys, "|"); got != want {
			t.Errorf("%q: keys %q, want %q", line, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cd /p/x && go test ./... -run 'A B' 2>&1 | tail -20": "go test ./... -run 'A B'",
		"ls -la && make test 2>/dev/null":                     "make test",
		"cat > a.py <<'EOF'\nprint(1)\nEOF\npython a.py":      "python a.py",
		"go vet ./... && go test ./...":                       "go vet ./... && go test ./...",
		"go build ./... || exit 1":                            "go build ./...",
		"curl -s localhost:8080/health | jq .":                "curl -s localhost:8080/health",
		"make 2>&1 >build.log":                                "make >build.log",
		"git status":                                          "",
		"npm ci\nnpm test":                                    "npm ci; npm test",
		"./server & sleep 1; ./client":                        "./server; ./client",

		// of a text with several lines the first that says something
		"git add a.go && git commit -q -m \"$(cat <<'EOF'\nfix: it's the parser\n\nAnd why.\nEOF\n)\"": `git add a.go && git commit -q -m "fix: it's the parser…"`,
		"python3 -c '\nimport json\nprint(1)\n'":                                                       "python3 -c 'import json…'",
		"psql -c \"select 1\nfrom t":                                                                   `psql -c "select 1…`,
	} {
		if got := Brief(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./internal/a -run X":                    "",
		"pytest tests/test_a.py::test_b src/b.py":        "src/b.py",
		"cat a.go b/c.ts | head -5":                      "a.go b/c.ts",
		"grep -n main.go cmd/x.go":                       "cmd/x.go",
		"sed -i 's/a.b/c/' conf/app.yaml":                "conf/app.yaml",
		"python3 -c 'open(\"x.txt\")' in.csv":            "in.csv",
		"curl https://example.com/a.html -o out.html":    "out.html",
		"cat > new.go <<EOF\nold.go\nEOF":                "new.go",
		"echo x >> notes.md":                             "notes.md",
		"git checkout v1.2.3 -- docs/a.md":               "docs/a.md",
		"node server.js --port 80 *.go ${X}.go 10.0.0.1": "server.js",
		"rm -f .env.local":                               ".env.local",
	} {
		if got := strings.Join(Files(line), " "); got != want {
			t.Errorf("%q: files %q, want %q", line, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		`ccreload later add -- 'x y'`:  {"ccreload", "later", "add", "--", "x y"},
		`a 'it'\''s' "b c" --d=e\ f ü`: {"a", "it's", "b c", "--d=e f", "ü"},
		" a ''\n":                      {"a", ""},
		"a 'two\nlines'":               {"a", "two\nlines"},
		"a; b":                         nil,
		"a && b":                       nil,
		"a\nb":                         nil,
		"a | b":                        nil,
		"a > b":                        nil,
		"a $(b)":                       nil,
		"a `b`":                        nil,
		`a "$b"`:                       nil,
		`a "b\"`:                       nil,
		"a *":                          nil,
		"a ~":                          nil,
		"a # b":                        nil,
		"A=b c":                        nil,
		"a {b,c}":                      nil,
		"a 'b":                         nil,
		"a \\\nb":                      nil,
		"":                             nil,
	} {
		got, ok := Words(line)
		if ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%q: %q %t, want %q", line, got, ok, want)
		}
	}
}

// A shell passes on what Words says.
func FuzzWords(f *testing.F) {
	f.Add(`a 'it'\''s' "b c" --d=e\ f`)
	f.Fuzz(func(t *testing.T, line string) {
		words, ok := Words(line)
		if !ok || strings.ContainsRune(line, 0) || words[0] == "" {
			return
		}
		out, err := exec.Command("sh", "-c", `f() { printf '%s\0' "$@"; }; f x `+line).Output()
		if want := "x\x00" + strings.Join(words, "\x00") + "\x00"; err != nil || string(out) != want {
			t.Errorf("%q: %q, a shell says %q (%v)", line, words, out, err)
		}
	})
}

func FuzzCommands(f *testing.F) {
	for _, s := range []string{"a && b | c", "cat <<E\nx\nE\n", "a 2>&1", "\"x", "a\\", "(a) b{c}", "<<", "a <<\nb", ">&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, c := range Commands(line) {
			if len(c) == 0 || c.Key() == "" && c[0] != "" && base(c[0]) != "" {
				t.Fatalf("%q: command %q with key %q", line, c, c.Key())
			}
		}
		if b := Brief(line); len(b) > 2*len(line)+2 || strings.ContainsAny(b, "\n") {
			t.Fatalf("%q is brief as %q", line, b)
		}
		if list := Files(line); slices.Contains(list, "") {
			t.Fatalf("%q names %q", line, list)
		}
	})
}

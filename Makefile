# ccreload: make help lists the targets.
SHELL    := /bin/sh
VERSION  := $(shell sed -n 's/^version: *//p' gen/manifest.yaml)
LDFLAGS  := -s -w -X github.com/ccreload/ccreload/internal/cli.release=$(VERSION)
GOBUILD  := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)'
TOOL     := go tool -modfile=tools/go.mod
CLIENTS  ?= 2.1.332 2.1.197
PREFIX   ?= $(HOME)/.local
DIST     := dist

# Of what has no date of its own, so that a build can be repeated.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## compile bin/ccreload and bin/ccreload-gen
	@mkdir -p bin
	$(GOBUILD) -o bin/ ./cmd/ccreload ./cmd/ccreload-gen

.PHONY: thorough
thorough: ## what make test takes samples of: a kill at every step, 10,000 simulated accounts
	go test -count 1 -timeout 40m -run 'Malformed|Killed|TestScripts/handoff-killed' ./internal/cli -killed-every 1 -malformed 1000 -kills 150
	go test -count 1 -timeout 40m -run Killed ./internal/git -killed-every 1
	go test -count 1 -timeout 40m -run Killed ./internal/handoff -killed-every 1
	go test -count 1 -timeout 40m -run Killed ./internal/later/dispatch -killed-every 1
	go test -count 1 -timeout 40m -run Account ./internal/later/schedule -accounts 10000

.PHONY: demo
demo: build ## replay three recorded sessions through the real binary
	@echo 'What can wait is queued from any prompt, and nothing else is:'
	@echo
	@bin/ccreload replay testdata/recordings/later-capture.jsonl --plugin cc-later
	@echo
	@echo 'A session fills up, Claude writes the digest by itself, and the next one goes on with it:'
	@echo
	@bin/ccreload replay testdata/recordings/snapshot-cycle.jsonl --set context_budget_mode=snapshot
	@echo
	@echo 'The default only tells you: one line at the budget, and one each ten points later:'
	@echo
	@bin/ccreload replay testdata/recordings/notify-ladder.jsonl

.PHONY: test
test: ## run the tests (two or three minutes on two idle cores)
	@echo 'two or three minutes on two idle cores, longer on a busy machine'
	@# make lint vets.
	go test -vet=off -timeout 30m ./...

.PHONY: race
race: ## run the tests with the race detector, which needs cgo and a C compiler
	@# internal/cli starts thousands of processes that have one goroutine each.
	CGO_ENABLED=1 go test -race -timeout 40m $$(go list ./... | grep -v internal/cli$$)

.PHONY: fuzz
fuzz: ## run every fuzz target for a moment (FUZZTIME=10s)
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(or $(FUZZTIME),10s) $$pkg || exit 1; \
		done; \
	done

.PHONY: lint
lint: ## gofumpt, go vet for three systems, staticcheck, deadcode, shellcheck, actionlint
	@out=$$($(TOOL) gofumpt -l .); [ -z "$$out" ] || { echo "gofumpt: $$out"; exit 1; }
	for os in linux darwin windows; do GOOS=$$os go vet ./... || exit 1; done
	go vet -tags acceptance,patient,wine ./...
	$(TOOL) staticcheck ./...
	@out=$$($(TOOL) deadcode -test ./...); [ -z "$$out" ] || { echo "$$out"; exit 1; }
	shellcheck -s sh marketplace/plugins/*/bin/ccreload
	shellcheck -x .ci/run .ci/packages .ci/wine .ci/wine-client .ci/wine-prefix
	$(TOOL) actionlint
	@# the variables of the host are named in one place
	@! git grep -nE '"(CLAUDE|ANTHROPIC)_[A-Z_]+"' -- 'cmd/*.go' 'internal/*.go' ':!internal/host' ':!*_test.go'

.PHONY: generate
generate: build ## write marketplace/ and the generated tables from gen/manifest.yaml
	bin/ccreload-gen generate

.PHONY: fields
fields: ## write gen/fields.json and gen/events.json from gen/fields.yaml and gen/manifest.yaml
	go test -count 1 -run 'TestFieldsJSON|TestEventsJSON' ./gen -update

.PHONY: check
check: build ## fail when a generated file is not what the manifest says
	bin/ccreload-gen check

.PHONY: acceptance
acceptance: build ## drive the real client (CLIENTS="2.1.332 2.1.197"), installed into .client/
	@for v in $(CLIENTS); do \
		echo "== Claude Code $$v"; \
		CLIENT_VERSION=$$v go test -tags acceptance -count 1 -timeout 30m ./internal/fakeapi || exit 1; \
		CLIENT_VERSION=$$v go test -tags acceptance -count 1 -timeout 30m ./internal/later/agent || exit 1; \
	done

.PHONY: record-sessions
record-sessions: ## record testdata/continuity anew from the real client (SESSIONS=all, or names with commas)
	@for v in $(CLIENTS); do \
		RECORD_SESSIONS=$(or $(SESSIONS),all) CLIENT_VERSION=$$v go test -tags acceptance -count 1 -timeout 60m -run TestRecordSessions ./internal/fakeapi || exit 1; \
	done
	go test -run TestContinuity ./internal/fakeapi

.PHONY: record-agents
record-agents: ## record the runs of internal/later/agent anew from the real client (AGENTS=all, or names with commas)
	@for v in $(CLIENTS); do \
		RECORD_AGENTS=$(or $(AGENTS),all) CLIENT_VERSION=$$v go test -tags acceptance -count 1 -timeout 30m -run TestRunsOfTheClient ./internal/later/agent || exit 1; \
	done
	go test ./internal/later/agent

.PHONY: bench
bench: build ## time and memory against an empty Go program; fails above a limit
	go test -run '^$$' -bench . -skip 'WithoutReply|MemoryOf(Stats|PreCompact)|PreCompact30|Measure' -benchtime 300x ./internal/cli
	@# wait, or read, most of a second each time
	go test -run '^$$' -bench 'WithoutReply|MemoryOf(Stats|PreCompact)|PreCompact30|Measure' -benchtime 20x ./internal/cli

.PHONY: dashboard-check
dashboard-check: ## look at the dashboard in a real browser (chromium, node): axe, keyboard, no request (SHOTS=DIR keeps pictures)
	@cd tools/dashboard && npm ci --silent --no-audit --no-fund
	@pages=$$(mktemp -d) && trap 'rm -rf "$$pages"' EXIT && \
		go test -count 1 ./internal/later/page -run TestWritePages -pages "$$pages" && \
		node tools/dashboard/check.mjs "$$pages" $(if $(SHOTS),--shots '$(SHOTS)')

.PHONY: dashboard-picture
dashboard-picture: ## make docs/images/dashboard.png anew
	@pages=$$(mktemp -d) && trap 'rm -rf "$$pages"' EXIT && \
		go test -count 1 ./internal/later/page -run TestWritePages -pages "$$pages" && \
		node tools/dashboard/check.mjs "$$pages" --picture docs/images/dashboard.png

.PHONY: continuity
continuity: build ## how much of what recorded sessions did next the pages carry (docs/continuity.md)
	@echo 'The mechanical digest:' && bin/ccreload reload measure testdata/continuity
	@echo && echo 'The handoff document:' && bin/ccreload reload measure --handoff testdata/continuity

.PHONY: manual
manual: ## man pages, completions and what packages add to them, in dist-extra/
	rm -rf dist-extra/man dist-extra/completions dist-extra/packages
	go run ./internal/manual dist-extra
	SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) go run ./internal/packages files dist-extra

.PHONY: snapshot
snapshot: build ## all that a release has, for six platforms, in dist/
	@# the tag, because casks and the like name the release they download; and
	@# where there is no remote, goreleaser knows neither commit nor date
	CCRELOAD_VERSION=$(VERSION) GORELEASER_CURRENT_TAG=v$(VERSION) \
		$(if $(shell git remote),,GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/ccreload/ccreload) \
		$(TOOL) goreleaser release --snapshot --clean --skip sign,sbom
	go run ./internal/packages npm $(DIST) $(DIST)/npm
	bin/ccreload-gen bundle --binaries $(DIST) --out $(DIST)/bundles --dry-run

.PHONY: release-check
release-check: snapshot ## make snapshot, check the configuration, run what was built
	CCRELOAD_VERSION=$(VERSION) $(TOOL) goreleaser check
	@for bin in $(DIST)/ccreload*_linux_*/ccreload*; do \
		case $$bin in *_$$(go env GOARCH)_*) ;; *) continue ;; esac; \
		got=$$($$bin version) || exit 1; \
		[ "$$got" = "$(VERSION)" ] || { echo "$$bin says $$got, the manifest says $(VERSION)"; exit 1; }; \
		echo "$$bin: $$got"; \
	done

.PHONY: package-check
package-check: ## install, use and remove the packages that make snapshot left in dist/ (Debian, as root)
	.ci/packages $(DIST)

# What a build made, with its sums. Left out is what has the time, and what lists
# its parts in the order in which they happened to be ready; neither is released
# but the manifest of winget, which make package-check looks at.
MADE := cd $(DIST) && find . -type f ! -name artifacts.json ! -name metadata.json ! -name config.yaml ! -name '*.installer.yaml' | sort | xargs sha256sum

# What a user types to install, in the tests of the real client.
CHANNELS := GitCatalogue|ReleaseCatalogue|InstalledProgram|Fork|BundleZip|OneLineInstall

.PHONY: release-clients
release-clients: ## have the real client install what make snapshot built, by every channel (CLIENTS as in acceptance)
	@for v in $(CLIENTS); do \
		echo "== Claude Code $$v"; \
		RELEASE=$(DIST) CLIENT_VERSION=$$v go test -tags acceptance -count 1 -timeout 30m -run '$(CHANNELS)' ./internal/fakeapi || exit 1; \
	done

.PHONY: release-dry-run
release-dry-run: release-check package-check release-recorded release-clients ## all a release does before it is public: build twice, compare, install by every channel
	@made=$$(mktemp -d) && trap 'rm -rf "$$made"' EXIT && \
		($(MADE)) >"$$made/first" && $(MAKE) snapshot && ($(MADE)) >"$$made/second" && \
		{ diff "$$made/first" "$$made/second" || { echo 'two builds differ in these files'; exit 1; }; } && \
		echo "$$(wc -l <"$$made/first") files, the same in both builds"

.PHONY: release-recorded
release-recorded: ## fail when gen/checksums.txt is not what make snapshot built
	@grep -qs '"$(VERSION)"' gen/released.json || { echo 'no checksums are recorded of $(VERSION) yet'; exit 0; }; \
		built=$$(mktemp) && trap 'rm -f "$$built"' EXIT && \
		grep -E '  ccreload-(linux|darwin|windows)-' $(DIST)/checksums.txt | sort >"$$built" && \
		grep -v '^#' gen/checksums.txt | sort | diff - "$$built" && echo 'gen/checksums.txt is what was built' || \
		{ echo 'gen/checksums.txt was recorded from another build: raise the version, or record it again before the tag'; exit 1; }

.PHONY: install
install: build ## copy the binaries to PREFIX/bin (PREFIX=~/.local)
	install -d $(PREFIX)/bin
	install bin/ccreload bin/ccreload-gen $(PREFIX)/bin/

.PHONY: clean
clean: ## remove what the other targets made
	rm -rf bin $(DIST) dist-extra

# The two commands a newcomer needs: make demo, make test.
# Everything else is for people who change ralph.

GO      ?= go
TOOLS   := $(CURDIR)/.tools
BIN     := $(TOOLS)/bin
RALPH   := $(CURDIR)/ralph

# Pinned tools; `make tools` and `make e2e` install them into .tools/.
STATICCHECK_VERSION := v0.8.2
GOFUMPT_VERSION     := v0.12.0
BENCHSTAT_VERSION   := v0.0.0-20260908200009-22c9c6c9d4da
GREMLINS_VERSION    := v0.6.0
GRAPHVIZ_NPM        := @hpcc-js/wasm-graphviz-cli@1.11.2

.PHONY: all web web-types web-check web-e2e web-picture agents attacks bd build demo test race race-build e2e hunt groups lint fmt fuzz mutate bench bench-check golden generate check-generated tools clean help

all: build

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

# The flags are those of go test: with others, all packages would be built twice.
build: ## build ./ralph
	$(GO) build -o $(RALPH) ./cmd/ralph

demo: build ## compile, draw and apply a plan for a small Go service, with scripted agents
	RALPH=$(RALPH) sh examples/demo/run.sh

# A later garbage collection: the tests of the compiler take two thirds of the CPU with it.
# Some packages wait more than they work: on a small machine, one more runs at once than there
# are processors. PACKAGES=1 tests one after the other.
PACKAGES ?= $(shell n=$$(nproc 2>/dev/null || echo 9); [ $$n -gt 4 ] || echo $$((n + 1)))
test: ## all tests that need only Go and git
	GOGC=$${GOGC:-400} $(GO) test $(if $(PACKAGES),-p $(PACKAGES)) -timeout 60m ./...
	@[ -n "$$RALPH_BD" ] || echo "make test: NOT TESTED here: the real bd (beads); make e2e builds and tests it"
	@[ -n "$$RALPH_E2E_AGENTS" ] || echo "make test: NOT TESTED here: the real Claude Code, OpenCode, Codex and opencode acp; make e2e installs and tests them"
	@echo "make test: NOT TESTED here: the page of ralph ui in a real browser; make web-e2e tests it (it needs chromium and npm)"

# A race-built program sleeps for a second when it ends, and tests start many: every ralph
# is the test binary.
# A package that starts no goroutine, nor do its tests, is raced by those that call it. The tests
# of executor/workspace use a repository one call at a time, but for one; app/cli's stories use
# it side by side.
RACE := GOGC=$${GOGC:-400} GORACE=atexit_sleep_ms=50 $(GO) test -race -short -timeout 60m
RACED := $$(grep -rlE --include='*.go' '^\s*go (func\(|[A-Za-z_.]+\()|\.Go\(' . | xargs -n1 dirname | sort -u | grep -vE '^\./(bench|executor/workspace)')
race: ## the packages that start goroutines under the race detector, with a few stories of real processes
	$(RACE) $(RACED)
	$(RACE) ./executor/workspace -run TestSeveralGatesOfANodeAtATime

race-build: ## compile what make race runs
	$(GO) list -race -test -deps -export -f '' $(RACED) ./executor/workspace

agents: $(TOOLS)/agents/bin/ready ## install the agent programs that ralph is tested with into .tools/agents

$(TOOLS)/agents/bin/ready: tools/agents/package.json tools/agents/package-lock.json Makefile
	@command -v npm >/dev/null || { echo "make agents needs npm (the agent programs come as npm packages): install Node.js 20 or newer, https://nodejs.org"; exit 1; }
	@mkdir -p $(TOOLS)/agents/bin
	cp tools/agents/package.json tools/agents/package-lock.json $(TOOLS)/agents/
	npm ci --silent --no-audit --no-fund --ignore-scripts --prefix $(TOOLS)/agents
	@set -e; cd $(TOOLS)/agents/node_modules; for p in claude=claude codex=codex opencode=opencode; do \
	  n=$${p%%=*}; f=$$(find . -type f -name "$$n" -perm -u+x | head -n 1); \
	  [ -n "$$f" ] || { echo "make agents: there is no $$n for this machine ($$(uname -sm)); the tests know Linux on x64"; exit 1; }; \
	  ln -sfn "../node_modules/$${f#./}" ../bin/$$n; done
	@touch $@

bd: $(BIN)/bd ## build bd, the beads tracker that ralph is tested with, into .tools/bin (some 8 CPU-minutes the first time)

# A module of its own, so that bd's 216 modules stay out of ralph's. Its embedded
# database needs cgo; gms_pure_go keeps it from needing ICU.
$(BIN)/bd: tools/bd/go.mod tools/bd/go.sum
	@command -v cc >/dev/null || command -v gcc >/dev/null || { echo "make bd needs a C compiler: install gcc (Debian: apt install gcc libc6-dev; macOS: xcode-select --install)"; exit 1; }
	@mkdir -p $(BIN)
	cd tools/bd && CGO_ENABLED=1 GOFLAGS=-mod=readonly GOBIN=$(BIN) $(GO) install -ldflags='-s -w' -tags gms_pure_go github.com/steveyegge/beads/cmd/bd
	@touch $@

e2e: $(BIN)/dot $(BIN)/bd agents web-e2e ## install the outside programs into .tools/, require them, and run the real agents, the real bd and the page
	PATH="$(BIN):$$PATH" RALPH_E2E=1 $(GO) test -count=1 ./app/cli -run '^TestScripts$$'
	PATH="$(BIN):$$PATH" RALPH_BD="$(BIN)/bd" $(GO) test -count=1 -timeout 20m -run '^TestBd' ./executor/tracker/... ./app/cli ./web
	$(GO) mod download
	PATH="$(BIN):$$PATH" RALPH_E2E=1 RALPH_E2E_REQUIRE=1 RALPH_E2E_AGENTS="$(TOOLS)/agents/bin" \
	  $(GO) run ./tools/offline $(GO) test -count=1 -p 1 -timeout 15m -run '^TestReal' ./executor/... ./app/cli

$(BIN)/dot: Makefile
	@command -v npm >/dev/null || { echo "make e2e needs npm (to install Graphviz as a program of its own): install Node.js 20 or newer, https://nodejs.org"; exit 1; }
	@mkdir -p $(TOOLS)/npm $(BIN)
	npm install --silent --no-audit --no-fund --prefix $(TOOLS)/npm $(GRAPHVIZ_NPM)
	@printf '%s\n' '#!/bin/sh' '# dot -Tformat [FILE]: Graphviz as WebAssembly' \
	  'f=-Tsvg; in=; for a in "$$@"; do case $$a in -T*) f=$$a;; -V) exec "$(TOOLS)/npm/node_modules/.bin/wasm-graphviz-cli" -v;; -*) ;; *) in=$$a;; esac; done' \
	  't=$$(mktemp) || exit 1; trap "rm -f $$t" EXIT; cat $$in > $$t' \
	  '"$(TOOLS)/npm/node_modules/.bin/wasm-graphviz-cli" -T "$${f#-T}" "$$t"' > $@
	@chmod +x $@

tools: $(BIN)/staticcheck $(BIN)/gofumpt ## install the linters

$(BIN)/staticcheck: Makefile
	GOBIN=$(BIN) $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	@touch $@
$(BIN)/gofumpt: Makefile
	GOBIN=$(BIN) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
	@touch $@
$(BIN)/benchstat: Makefile
	GOBIN=$(BIN) $(GO) install golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION)
	@touch $@

$(BIN)/gremlins: Makefile
	GOBIN=$(BIN) $(GO) install github.com/go-gremlins/gremlins/cmd/gremlins@$(GREMLINS_VERSION)
	@touch $@

attacks: ## every attack, and a kill of apply at every point outside of sandboxes, where make test takes samples
	RALPH_KILLS=all $(GO) test -count=1 -timeout 30m ./app/cli -run TestApplyIsKilledEverywhere
	RALPH_ATTACKS=all $(GO) test -count=1 -timeout 30m ./app/cli -run TestAttacks
	RALPH_ATTACKS=all $(GO) test -count=1 ./compiler -run TestHostileInputsAreBounded

hunt: ## kill git at work, again and again, under a ralph that is killed too
	for i in 1 2 3; do RALPH_KILLS=git $(GO) test -count=1 -timeout 30m ./app/cli -run TestApplyIsKilledEverywhere || exit 1; done

groups: ## try limits on memory and processors in a VM that has control groups (root, qemu, mmdebstrap)
	sh .ci/groups.sh

lint: tools ## gofumpt, go vet, staticcheck
	@out=$$($(BIN)/gofumpt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofumpt (make fmt fixes it):"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(BIN)/staticcheck ./...

fmt: tools ## format the Go files
	$(BIN)/gofumpt -w $$(git ls-files '*.go')

# A count, not a time: at the end of a time go test itself may fail a target with
# "context deadline exceeded" (go.dev/issue/75804, fixed in Go 1.27).
FUZZTIME ?= 200000x
fuzz: ## every fuzz target for FUZZTIME inputs each (200000x)
	@set -e; for p in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$p/*_test.go | sed 's/func //' | sort -u); do \
	    echo "fuzz $$p $$f"; $(GO) test $$p -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x; done; done

# Some seconds for each change, and hundreds of changes: for one package at a time, one
# without packages below it (their tests would all run first). Not every change that
# lives is a hole: some make no difference, others a test of another package notices.
mutate: $(BIN)/gremlins ## change PKG in many small ways, and print the changes that no test of it notices
	@[ -n "$(PKG)" ] || { echo "make mutate PKG=./ir/codec/bead"; exit 2; }
	GOFLAGS="$$($(GO) env GOFLAGS) -short" $(BIN)/gremlins unleash $(PKG) --workers 1 --test-cpu 1 --timeout-coefficient 20 --invert-logical --output-statuses lc

bench: $(BIN)/benchstat ## speed and memory, as ratios against a floor in the same run
	sh bench/run.sh

# Each benchmark once, so that none rots; nobody reads the times.
bench-check: ## run each benchmark once, and hold what they count to bench/counts.txt (UPDATE=1 writes it anew)
	RALPH_BENCH_CHECK=$(if $(UPDATE),update,1) $(GO) test -count=1 -timeout 60m ./bench -run '^TestCounts$$'
	$(GO) test -short -timeout 60m ./bench ./compiler/... ./policies/... ./ir/... ./executor/... ./internal/... -run '^$$' -bench . -benchtime 1x

golden: ## rewrite the golden files; read the diff before you commit it
	$(GO) test ./app/... ./compiler/... ./policies/... ./ir/... ./app/cli ./executor/machine ./executor/gate -update

generate: ## rewrite the generated docs
	$(GO) test ./diag -run TestDocsAreCurrent -update
	$(GO) test ./app/cli -run TestCommandLineDocsAreCurrent -update
	$(GO) test ./executor/runner/runnertest -run TestDocsAreCurrent -update

check-generated: generate ## fail when a generated file is not current
	$(GO) mod tidy -diff
	@git diff --exit-code -- docs || { echo "generated files are stale: make generate, then commit"; exit 1; }

# dist is committed, so that go install has the page; the same sources make the same bytes.
WEB_DIST ?= dist
web: ## build the page of ralph ui, and of ralph report, into web/dist (needs npm)
	@command -v npm >/dev/null || { echo "make web needs npm: install Node.js 20 or newer, https://nodejs.org"; exit 1; }
	cd web && npm ci --silent --no-audit --no-fund --ignore-scripts && npx tsc --noEmit && npx vite build --outDir $(WEB_DIST) --emptyOutDir && \
	  npx vite build --config vite.report.config.ts --outDir $(WEB_DIST)/report --emptyOutDir

web-types: build ## make the page's types from the server's route table
	cd web && npm ci --silent --no-audit --no-fund --ignore-scripts && $(RALPH) schema ui | node types.mjs > src/api.gen.ts

web-check: build ## test the page's layout; fail when web/dist is not what its sources make
	@out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && $(MAKE) web WEB_DIST="$$out/dist" && \
	  diff -r web/dist "$$out/dist" || { echo "web/dist is stale: make web, then commit"; exit 1; }
	cd web && $(RALPH) schema ui | node types.mjs | diff src/api.gen.ts - || { echo "web/src/api.gen.ts is stale: make web-types, then commit"; exit 1; }
	cd web && npx tsc --noEmit -p test && npm test --silent

# Real runs, a real server, a real browser; pictures of every page in web/e2e/shots.
web-e2e: build ## test the page in Chromium, with real runs (needs chromium and npm)
	@command -v npm >/dev/null || { echo "make web-e2e needs npm: install Node.js 20 or newer, https://nodejs.org"; exit 1; }
	@for c in "$$CHROMIUM" chromium chromium-headless-shell chromium-browser google-chrome; do command -v "$$c" >/dev/null && exit 0; done; \
	  echo "make web-e2e needs Chromium: Debian: apt-get install chromium; elsewhere CHROMIUM=/path/to/it"; exit 1
	cd web/e2e && npm ci --silent --no-audit --no-fund --ignore-scripts && npx tsc --noEmit && \
	  RALPH=$(RALPH) npx playwright test $${RALPH_PART:+--shard=$$((0x$$RALPH_PART % 2 + 1))/2}

web-picture: web-e2e ## put the browser's picture of a morning into docs
	cp web/e2e/shots/morning-light.png docs/ui.png

clean: ## remove what was built
	rm -rf $(RALPH) $(TOOLS)

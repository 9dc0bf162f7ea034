#!/bin/sh
# The main job of ralph, whole, on a small Go service: compile a plan, look at the
# graph, apply it, look at the result. The agents are shell scripts and say so;
# the worktrees, the tests, the conflict and the verdicts are real.
# Needs git, go (or RALPH=/path/to/ralph); no network, no key. Changes nothing
# outside one temporary directory, which stays, to look around in it.
set -eu

demo=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ralph-demo.XXXXXX")
trap 'exit 130' INT TERM
began=$(date +%s)

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }
fail() {
	echo "demo: $*" >&2
	echo "  it happened in $tmp/links" >&2
	exit 1
}

if [ -z "${RALPH:-}" ]; then
	RALPH=$tmp/ralph
	(cd "$demo/../.." && go build -o "$RALPH" ./cmd/ralph)
fi
ralph() { "$RALPH" "$@"; }

# A repository of its own, with an identity of its own.
cp -R "$demo/project" "$tmp/links"
cd "$tmp/links"
git init -q -b main .
git config user.name demo
git config user.email demo@example.org
git add -A
git commit -q -m "links: the skeleton"

say ralph compile plans/links.md -o epic.json
ralph compile plans/links.md -o epic.json
git add -A
git commit -q -m "plans: compile"
base=$(git rev-parse HEAD)

say ralph graph --waves
ralph graph --waves

# Where no sandbox can be made, the agents, which mean no harm, run without.
wall=
ralph doctor >"$tmp/doctor.txt" 2>&1 || true # whatever else it misses
grep '^ok  *sandbox' "$tmp/doctor.txt" || {
	grep ' sandbox ' "$tmp/doctor.txt" || true
	wall="--sandbox none"
}

say ralph apply epic.json $wall
ralph apply epic.json $wall | tee "$tmp/apply.txt"

branch=ralph/links/integration
say git log --graph --oneline "$branch"
git --no-pager log --graph --format='%h %s' "$branch"

say ralph status
ralph status

# What the plan promised is what happened, and this checkout was not touched.
happened() { grep -q "$1" "$tmp/apply.txt" || fail "it was promised and did not happen: $2"; }
happened '1\.2a *✗ implement #1: gate qa: fail' "the tester sends 1.2a back"
happened '1\.2a *✓ implement #2: gate qa: pass' "1.2a passes with the feedback"
happened '2\.1 *✓ implement #1: gate blind-review: pass' "2.1 is reviewed blind"
happened '5 of 5 sprints done' "all sprints are done"
happened '1\.3 *✓ merge #1: the conflict is resolved' "1.3 begins with a conflict that an agent resolves"
[ "$(git rev-parse HEAD)" = "$base" ] && [ -z "$(git status --porcelain)" ] || fail "the checkout was touched"
[ "$(git symbolic-ref --short HEAD)" = main ] || fail "the checkout is on another branch"
git worktree add -q --detach "$tmp/result" "$branch"
say go test ./... "  (on $branch)"
(cd "$tmp/result" && go test ./...)
say "printf 'auth guess\\nauth secret\\nput go https://go.dev\\nget go\\nstats\\n' | LINKS_TOKEN=secret go run .  (there)"
(cd "$tmp/result" && printf 'auth guess\nauth secret\nput go https://go.dev\nget go\nstats\n' | LINKS_TOKEN=secret go run .)

say ralph apply epic.json $wall "  (again: nothing is left to do)"
ralph apply epic.json $wall >"$tmp/again.txt"
grep 'sprints done' "$tmp/again.txt"
if grep -q '▶' "$tmp/again.txt"; then fail "something ran again"; fi

graph=$tmp/graph.svg
ralph graph --format svg >"$graph" 2>/dev/null || { # without Graphviz: its text
	rm "$graph"
	graph=$tmp/graph.dot
	ralph graph >"$graph"
}
report=$tmp/report.html
ralph report -o "$report" >"$tmp/report.txt"

cat <<END

Done in $(($(date +%s) - began)) s. Where to look:
  branch    cd $tmp/links && git log --graph -p $branch
  the page  cd $tmp/links && $RALPH ui
  report    $report
  graph     $graph
  a sprint  cd $tmp/links && $RALPH show 1.2a
  agents    $tmp/links/agents, with what they were told in $tmp/links/.git/ralph
When you have seen enough: rm -rf $tmp
END

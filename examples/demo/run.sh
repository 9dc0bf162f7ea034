#!/bin/sh
# The main job of ralph, whole, on a small example: compile a plan, look at the
# graph, apply it with agents that are shell scripts, look at the result.
# Needs git, go (or RALPH=/path/to/ralph) and awk; no network. Changes nothing
# outside a temporary directory. KEEP=1 leaves it there.
set -eu

demo=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d)
if [ -z "${KEEP:-}" ]; then trap 'rm -rf "$tmp"' EXIT; fi
trap 'exit 130' INT TERM

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

if [ -z "${RALPH:-}" ]; then
	RALPH=$tmp/ralph
	(cd "$demo/../.." && go build -o "$RALPH" ./cmd/ralph)
fi
ralph() { "$RALPH" "$@"; }

# A repository of its own, with an identity of its own.
cp -R "$demo/project" "$tmp/todo"
cd "$tmp/todo"
git init -q -b main .
git config user.name demo
git config user.email demo@example.org
git add -A
git commit -q -m "todo: the skeleton"

say ralph compile plans/todo.md -o epic.json
ralph compile plans/todo.md -o epic.json
git add -A
git commit -q -m "plans: compile"

say ralph graph --waves
ralph graph --waves

say ralph apply epic.json
ralph apply epic.json

branch=$(sed -n 's/^ *"branch": "\(ralph\/[^"]*\/integration\)".*/\1/p' epic.json | head -n 1)
say git log --graph --oneline "$branch"
git --no-pager log --graph --oneline "$branch"

say git diff --stat "main...$branch"
git --no-pager diff --stat "main...$branch"

# The result is what the plan asked for, and this checkout was not touched.
test -z "$(git status --porcelain)"
test "$(git symbolic-ref --short HEAD)" = main
git worktree add -q --detach "$tmp/result" "$branch"
say sh tests/run.sh "  (on $branch)"
sh "$tmp/result/tests/run.sh"
test "$(sh "$tmp/result/tests/run.sh" | grep -c '^ok')" = 4

say ralph apply epic.json "  (again: nothing is left to do)"
ralph apply epic.json

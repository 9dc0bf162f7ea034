#!/bin/sh
# Makes run.tar.gz: a repository in which the ralph of a release was at work, with
# three epics: night (killed in mid-run: retries, conflicts, every kind of wait),
# calm (ended, all done) and spent (blocked by its budget).
#
#   RALPH=/path/to/that/ralph sh make.sh /tmp/release
#
# The directory must not exist; the test knows its name. What is in the archive is never made anew: it shows that
# what that release wrote is still understood.
set -eu
top=$1
mkdir -p "$top/project/plans" "$top/home"
top=$(cd "$top" && pwd)
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
HOME=$top/home GIT_CONFIG_NOSYSTEM=1
export HOME GIT_CONFIG_NOSYSTEM
cd "$top/project"
cp -R "$here/project/." .
git init -q --template= -b main .
git config user.name root
git config user.email root@example.org
for p in calm spent night; do "$RALPH" compile "plans/$p.md" -o "$p.json"; done
git add -A
git commit -q -m "plans"

"$RALPH" apply calm.json || true
"$RALPH" apply spent.json || true

# The first run of night: 1.18 is done once; what people say before the second.
"$RALPH" apply night.json --only 1.18 || true
sed -i 's/A text that changes/A text that has changed/' plans/night.md
"$RALPH" compile plans/night.md -o night.json
git commit -q -a -m "night: 1.18 changes"
"$RALPH" skip 1.10 -m "not tonight" --epic night.json
"$RALPH" cancel 1.11 -m "never" --epic night.json
"$RALPH" pause 1.15 --epic night.json

# The second: killed while 1.13 is at work and nothing else is.
"$RALPH" apply night.json > "$top/apply.txt" 2>&1 &
ralph=$!
while :; do
  sleep 1
  kill -0 $ralph
  [ -f "$HOME/at-1.13" ] || continue
  grep -q '^1.4 .* waits for a person' "$top/apply.txt" && grep -q '^1.3 .* done' "$top/apply.txt" && break
done
kill -9 $ralph
wait $ralph || true
kill "$(cat "$HOME/at-1.13")" 2>/dev/null || true
sleep 1
rm -f "$HOME/at-1.13" "$top/apply.txt"
cd "$top/project"
for p in calm spent night; do "$RALPH" status $p.json --json > "$top/$p.status.json"; done
git reflog expire --expire=now --all && git repack -adq # the archive stays small
cd "$top" && tar czf run.tar.gz --owner=0 --group=0 home project project-worktrees ./*.status.json

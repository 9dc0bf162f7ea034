#!/bin/sh
# Runs the test of every command that exists. One line per test; fails if one does.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0
for lib in lib/*.sh; do
	[ -f "$lib" ] || continue
	name=$(basename "$lib" .sh)
	TODO_FILE=$(mktemp) && export TODO_FILE
	if out=$(sh "tests/$name.sh" 2>&1); then
		echo "ok      $name"
	else
		echo "FAILED  $name: $out"
		failed=1
	fi
	rm -f "$TODO_FILE"
done
exit $failed

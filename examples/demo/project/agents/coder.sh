#!/bin/sh
# An agent that needs no model: it knows the four sprints of plans/todo.md. What
# it does with ralph is what every agent does: it reads a prompt, changes files,
# reads feedback when there is some, and reports an outcome.
set -eu

prompt=$(cat)
case $prompt in
*"$RALPH_NODE"*) ;;
*) echo "the prompt does not name sprint $RALPH_NODE" >&2; exit 1 ;;
esac

case $RALPH_NODE in
1.1)
	printf '%s\n' 'printf "%s\n" "$*" >>"$TODO_FILE"' >lib/add.sh
	did="added the command add"
	;;
1.2a)
	printf '%s\n' 'awk "{ print NR, \$0 }" "$TODO_FILE"' >lib/list.sh
	did="added the command list"
	;;
1.2b)
	if grep -q 'an empty list counts 1, want 0' "$RALPH_FEEDBACK"; then
		printf '%s\n' 'awk "END { print NR }" "$TODO_FILE"' >lib/count.sh
		did="an empty list counts 0 now"
	else
		# The mistake that the gate finds: the last line is counted twice.
		printf '%s\n' 'awk "END { print NR + 1 }" "$TODO_FILE"' >lib/count.sh
		did="added the command count"
	fi
	;;
1.3)
	printf '%s\n' 'echo "$("$here/bin/todo" count) to do:"' '"$here/bin/todo" list' >lib/report.sh
	printf '\n    todo add TEXT | list | count | report\n' >>README.md
	did="added the command report"
	;;
*)
	echo "no sprint $RALPH_NODE" >&2
	exit 1
	;;
esac

echo "$did"
printf '{"result": "success", "summary": "%s"}\n' "$did" >"$RALPH_OUTCOME"

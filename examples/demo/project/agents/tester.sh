# A tester that needs no model. It finds the criteria of the form
#   put a x; get a answers ok x
# in its prompt, says each to the service in this worktree, and compares.
set -eu

prompt=$(cat)
echo "This is a script that plays a tester."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/links" . 2>"$work/build" || {
	why=$(tr '\t\n' '  ' <"$work/build" | tr -d '"\\' | cut -c 1-300)
	printf '```json\n{"status": "fail", "message": "it does not build: %s"}\n```\n' "$why"
	exit 0
}

# Criteria stand in the input, one on a line.
tab=$(printf '\t')
printf '%s\n' "$prompt" | sed -n 's/^ *"\(.*\) answers \(.*\)",*$/\1'"$tab"'\2/p' >"$work/criteria"
wrong=
tried=0
while IFS=$tab read -r say want; do
	got=$(printf '%s\n' "$say" | tr ';' '\n' | sed 's/^ *//' | "$work/links" | tail -n 1)
	tried=$((tried + 1))
	if [ "$got" = "$want" ]; then
		echo "holds: $say answers $got"
	else
		echo "does not hold: $say answered $got, not $want"
		wrong="$wrong'$say' answered '$got', not '$want'. "
	fi
done <"$work/criteria"

case $tried,$wrong in
0,*) verdict='{"status": "stop", "message": "the prompt holds no criterion that can be tried"}' ;;
*,) verdict="{\"status\": \"pass\", \"message\": \"tried $tried criteria, all hold\"}" ;;
*) verdict="{\"status\": \"fail\", \"message\": \"$wrong\"}" ;;
esac
printf '```json\n%s\n```\n' "$verdict"

# A blind reviewer that needs no model: it sees the acceptance criteria and the
# diff, in a directory that holds nothing else.
set -eu

cat >/dev/null
echo "This is a script that plays a reviewer."
say() {
	printf '```json\n{"status": "%s", "message": "%s"}\n```\n' "$1" "$2"
	exit 0
}

files=$(ls -A | tr '\n' ' ')
[ "$files" = "acceptance.md diff.patch " ] || say stop "I see more or less than the criteria and the diff: $files"

added=$(grep '^+' diff.patch || :)
case $added in
*'token = "'* | *'Token = "'*) say fail "a token stands in the code; read it from the environment" ;;
esac
printf '%s\n' "$added" | grep -q ConstantTimeCompare || say fail "the token is not compared in constant time"
printf '%s\n' "$added" | grep -q '^+func Test' || say fail "no test comes with it"
grep -q 'wrong token' acceptance.md || say stop "the criteria say nothing about a wrong token"
say pass "no token in the code, compared in constant time, tests come with it"

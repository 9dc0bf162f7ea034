#!/bin/sh
# A stand-in for gh: pull requests are directories below $FORGE. The file "lose"
# there makes it do its work and lose the answer, "down" makes it fail at once.
set -eu
echo "$*" >> "$FORGE/calls"
[ ! -e "$FORGE/down" ] || { echo "HTTP 502: bad gateway" >&2; exit 1; }
[ "$1" = pr ] || exit 64
verb=$2
shift 2
number= head= base=main title=
while [ $# -gt 0 ]; do
  case $1 in
    --head) head=$2; shift ;;
    --base) base=$2; shift ;;
    --title) title=$2; shift ;;
    --body-file|--state|--limit|--json) shift ;;
    [0-9]*) number=$1 ;;
  esac
  shift
done
text() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' "$1" | tr '\n' ' '; }
show() {
  printf '{"number":%s,"url":"https://forge.invalid/pull/%s","state":"%s","body":"%s","baseRefName":"%s","headRefOid":"%s","isCrossRepository":%s,"mergeCommit":%s,"comments":%s}' \
    "${1##*/}" "${1##*/}" "$(cat "$1/state")" "$(text "$1/body")" "$(cat "$1/base")" \
    "$(git --git-dir="$REMOTE" rev-parse "refs/heads/$(cat "$1/head")")" "$(cat "$1/fork" 2>/dev/null || echo false)" \
    "$(cat "$1/merge" 2>/dev/null || echo null)" "$(cat "$1/comments" 2>/dev/null || echo '[]')"
}
case $verb in
  list)
    sep=
    printf '['
    for p in "$FORGE"/pulls/*; do
      [ -e "$p/head" ] && [ "$(cat "$p/head")" = "$head" ] || continue
      printf '%s' "$sep"
      show "$p"
      sep=,
    done
    printf ']\n' ;;
  create)
    git --git-dir="$REMOTE" rev-parse --verify -q "refs/heads/$head" >/dev/null || { echo "head is not pushed" >&2; exit 1; }
    n=1
    while [ -e "$FORGE/pulls/$n" ]; do n=$((n + 1)); done
    mkdir -p "$FORGE/pulls/$n"
    p=$FORGE/pulls/$n
    cat > "$p/body"; echo "$head" > "$p/head"; echo "$base" > "$p/base"; echo "$title" > "$p/title"; echo OPEN > "$p/state"
    [ ! -e "$FORGE/lose" ] || { rm "$FORGE/lose"; echo "connection reset by peer" >&2; exit 1; }
    echo "https://forge.invalid/pull/$n" ;;
  edit)
    p=$FORGE/pulls/$number
    cat > "$p/body"; echo "$title" > "$p/title"
    echo "$base" > "$p/base" ;;
  view) show "$FORGE/pulls/$number" ;;
  *) exit 64 ;;
esac

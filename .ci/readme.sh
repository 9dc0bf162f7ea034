#!/bin/sh
# Runs the README's commands: every line of its ```console blocks that begins
# with "$ ", in order, in an empty git repository, with ralph on PATH. A command
# that fails fails the check; the README shows what was really printed, so the
# first line of each output is compared too.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin" "$dir/hello" "$dir/home"
(cd "$top" && go build -o "$dir/bin/ralph" ./cmd/ralph)
PATH="$dir/bin:$top/.tools/bin:$PATH"
HOME="$dir/home" GIT_CONFIG_NOSYSTEM=1
export PATH HOME GIT_CONFIG_NOSYSTEM
cd "$dir/hello"
git init -q -b main
git config user.name you
git config user.email you@example.com
awk '/^```console$/{on=1;next} /^```$/{if(on)print "";on=0;next} on' "$top/README.md" > "$dir/session"
n=0
want=
check() { # compares what was printed first with what the README shows first
  if [ -n "$want" ] && [ "$want" != "…" ]; then
    got=$(head -n 1 "$dir/out")
    [ "$got" = "$want" ] || { echo "README: \$ $cmd"; echo "  shows:   $want"; echo "  printed: $got"; exit 1; }
  fi
}
cmd=
fresh=0
while IFS= read -r line; do
  case $line in
    '$ '*)
      [ -z "$cmd" ] || check
      cmd=${line#\$ }
      want=
      fresh=1
      code=0
      expect=0
      case $cmd in *'# exit '*) expect=${cmd##*# exit };; esac
      sh -c "$cmd" > "$dir/out" 2>&1 < /dev/null || code=$?
      n=$((n + 1))
      if [ "$code" != "$expect" ]; then
        echo "README: \$ $cmd"; echo "  exited $code, want $expect:"; cat "$dir/out"; exit 1
      fi
      ;;
    *)
      if [ "$fresh" = 1 ]; then want=$line; fresh=0; fi
      ;;
  esac
done < "$dir/session"
[ -z "$cmd" ] || check
[ "$n" -gt 3 ] || { echo "README: only $n commands found"; exit 1; }
echo "README: $n commands run, each exits and begins as shown"

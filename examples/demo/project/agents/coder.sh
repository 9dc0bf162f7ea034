# A coder that needs no model: it knows the five sprints of plans/links.md. What it
# does with ralph is what every agent does: it reads a prompt, changes files, reads
# feedback when there is some, and says what it did.
set -eu

prompt=$(cat)
echo "This is a script that plays a coder; it was told:"
printf '%s\n' "$prompt" | sed 's/^/  | /'

finish() {
	echo "$1"
	printf '{"result": "success", "summary": "%s"}\n' "$1" >"$RALPH_OUTCOME"
	exit 0
}

# Two results that were made side by side do not merge: keep the lines of both.
if [ "$RALPH_STEP" = merge ]; then
	files=$(git diff --name-only --diff-filter=U)
	for f in $files; do
		case $prompt in
		*"$f"*) ;;
		*) echo "the prompt does not name $f" >&2; exit 1 ;;
		esac
		# gofmt aligned the two sides differently: a line that differs by spaces
		# alone is the same line.
		awk '
			/^<<<<<<< / { both = 1; next }
			/^>>>>>>> / { both = 0; split("", seen); next }
			/^=======$/ { next }
			both { line = $0; gsub(/[ \t]/, "", line); if (seen[line]++) next }
			{ print }' "$f" >"$f.joined"
		mv "$f.joined" "$f"
		gofmt -w "$f"
	done
	git add $files
	go vet .
	finish "kept the lines of both sides in $(echo $files)"
fi

case $prompt in
*"Sprint $RALPH_NODE:"*) ;;
*) echo "the prompt does not name sprint $RALPH_NODE" >&2; exit 1 ;;
esac

# command adds a line to the table of commands, behind the one of put or ping.
command() {
	behind=$(grep -n '(\*Service)' commands.go | tail -n 1 | cut -d: -f1)
	{ head -n "$behind" commands.go; printf '\t"%s": (*Service).%s,\n' "$1" "$1"; tail -n +"$((behind + 1))" commands.go; } >commands.new
	mv commands.new commands.go
	gofmt -w commands.go
}

case $RALPH_NODE in
1.1)
	command put
	cat >put.go <<'GO'
package main

func (s *Service) put(args []string) string {
	if len(args) != 2 {
		return "error put NAME ADDRESS"
	}
	s.links[args[0]] = args[1]
	return "ok"
}
GO
	cat >put_test.go <<'GO'
package main

import "testing"

func TestPut(t *testing.T) {
	if got := last(t, "put go https://go.dev"); got != "ok" {
		t.Errorf("got %q", got)
	}
	if got := last(t, "put go"); got != "error put NAME ADDRESS" {
		t.Errorf("got %q", got)
	}
}
GO
	finish "put keeps a link"
	;;
1.2a)
	if grep -q 'get nothing' "$RALPH_FEEDBACK"; then
		cat >get.go <<'GO'
package main

func (s *Service) get(args []string) string {
	if len(args) != 1 {
		return "error get NAME"
	}
	address, known := s.links[args[0]]
	if !known {
		return "error no such link"
	}
	return "ok " + address
}
GO
		cat >get_unknown_test.go <<'GO'
package main

import "testing"

func TestGetOfAnUnknownName(t *testing.T) {
	if got := last(t, "get nothing"); got != "error no such link" {
		t.Errorf("got %q", got)
	}
}
GO
		finish "a name that nobody put is an error now, with a test"
	fi
	command get
	# The mistake that the tester finds: no test asks for an unknown name.
	cat >get.go <<'GO'
package main

func (s *Service) get(args []string) string {
	if len(args) != 1 {
		return "error get NAME"
	}
	return "ok " + s.links[args[0]]
}
GO
	cat >get_test.go <<'GO'
package main

import "testing"

func TestGet(t *testing.T) {
	if got := last(t, "put go https://go.dev", "get go"); got != "ok https://go.dev" {
		t.Errorf("got %q", got)
	}
}
GO
	finish "get says the address"
	;;
1.2b)
	command stats
	cat >stats.go <<'GO'
package main

import "fmt"

func (s *Service) stats([]string) string { return fmt.Sprintf("ok %d links", len(s.links)) }
GO
	cat >stats_test.go <<'GO'
package main

import "testing"

func TestStats(t *testing.T) {
	if got := last(t, "put a x", "put b y", "put a z", "stats"); got != "ok 2 links" {
		t.Errorf("got %q", got)
	}
}
GO
	finish "stats counts the links"
	;;
1.3)
	{
		printf '\n| command |\n|---|\n'
		sed -n 's/^[[:space:]]*"\([a-z]*\)":.*/| `\1` |/p' commands.go
	} >>README.md
	finish "the README names every command of commands.go"
	;;
2.1)
	command auth
	cat >auth.go <<'GO'
package main

import (
	"crypto/subtle"
	"os"
)

// auth lets the client change links. The token is the owner's, who sets it in the
// environment.
func (s *Service) auth(args []string) string {
	want := os.Getenv("LINKS_TOKEN")
	if want == "" || len(args) != 1 || subtle.ConstantTimeCompare([]byte(args[0]), []byte(want)) != 1 {
		return "error wrong token"
	}
	s.trusted = true
	return "ok"
}

// mayChange reports whether links may be changed: by everybody where no token is
// set.
func (s *Service) mayChange() bool { return s.trusted || os.Getenv("LINKS_TOKEN") == "" }
GO
	cat >auth_test.go <<'GO'
package main

import "testing"

func TestPutAsksForTheToken(t *testing.T) {
	t.Setenv("LINKS_TOKEN", "of the test")
	if got := last(t, "put a x"); got != "error auth first" {
		t.Errorf("put without a token: %q", got)
	}
	if got := last(t, "auth guess", "put a x"); got != "error auth first" {
		t.Errorf("put with a wrong token: %q", got)
	}
	t.Setenv("LINKS_TOKEN", "right")
	if got := last(t, "auth right", "put a x"); got != "ok" {
		t.Errorf("put with the token: %q", got)
	}
}
GO
	awk '{ print } /links map\[string\]string \/\// { print "\ttrusted bool // auth was right" }' service.go >service.new
	mv service.new service.go
	awk '{ print } /^func .*put\(/ { print "\tif !s.mayChange() {\n\t\treturn \"error auth first\"\n\t}" }' put.go >put.new
	mv put.new put.go
	gofmt -w service.go put.go
	finish "put asks for the token of LINKS_TOKEN"
	;;
esac
echo "no sprint $RALPH_NODE" >&2
exit 1

//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

const twoSprints = `### Sprint 1.1a: First

- [ ] do it

### Sprint 1.1b: Second

- [ ] do it
`

var cornerAgents = []cornerCase{
	{
		group: "agent", name: "it forgets the pull request",
		want: "pull requests are ralph's own work, made exactly once whatever the agent says",
		agent: `echo x > out
printf '{"success": true, "pr_url": null, "bead_updated": true}' > "$RALPH_OUTCOME"`,
		policy: `integration {
  pr = "plan"
}
git {
  target = "main"
}`,
		check: func(t *testing.T, r *cornerRepo) {
			r.git("init", "-q", "--bare", "../remote.git")
			r.git("remote", "add", "origin", r.path("../remote.git"))
			r.git("push", "-q", "origin", "main")
			r.write("../bin/gh", standInGH)
			r.write("../down", "") // and the service cannot be reached at first
			r.apply(exit.Done)
			r.hasNot(r.apply(exit.Done), "▶")
			if got, want := r.git("ls-remote", "origin", "refs/heads/ralph/plan/integration"), r.git("rev-parse", "ralph/plan/integration"); !strings.HasPrefix(got, want) {
				t.Errorf("the remote has %q, want %s", got, want)
			}
			if n := strings.Count(r.read("../gh.log"), "pr create"); n != 1 {
				t.Errorf("%d pull requests were made, want 1:\n%s", n, r.read("../gh.log"))
			}
		},
	},
	{
		group: "agent", name: "it does not update its bead",
		want: "what is done is in the journal, whatever an agent notes elsewhere",
		agent: `echo x > out
printf '{"success": true, "bead_updated": false}' > "$RALPH_OUTCOME"`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.apply(exit.Done), "1 of 1 sprint done")
			r.has(r.ralph(exit.Done, "status"), "done")
			r.hasNot(r.apply(exit.Done), "▶")
		},
	},
	{
		group: "agent", name: "it gives up",
		want: "failed: no gate is paid for, each try costs an attempt, then the sprint is blocked and the others go on",
		plan: twoSprints,
		agent: `echo x > "out-$RALPH_NODE"
test "$RALPH_NODE" = 1.1b || printf '{"result": "failed", "summary": "this is too hard"}' > "$RALPH_OUTCOME"`,
		step: `breaker = 3`,
		check: func(t *testing.T, r *cornerRepo) {
			out := r.apply(exit.NotDone)
			r.has(out, "this is too hard", "1.1a  blocked", "1 of 2 sprints done")
			if n := strings.Count(out, "1.1a  ✗ implement #"); n != 3 {
				t.Errorf("%d attempts failed, want 3:\n%s", n, out)
			}
			r.hasNot(out, "1.1a  ✓")
		},
	},
	{
		group: "agent", name: "it never ends",
		want: "the time of an attempt is bounded; a timeout counts, the next attempt is told of it",
		agent: `echo x > out
grep -q . "$RALPH_FEEDBACK" || sleep 60`,
		step: `timeout = "3s"`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.apply(exit.Done), "1.1  ✗ implement #1: timeout", "1.1  ↻ implement #2: again, with feedback", "1 of 1 sprint done")
		},
	},
	{
		group: "agent", name: "it breaks the build",
		want:  "a failed command gate is feedback for the next attempt",
		agent: `if grep -q 'undefined: x' "$RALPH_FEEDBACK"; then echo good > code; else echo bad > code; fi`,
		unit:  `grep -q good code || { echo 'code.go:1: undefined: x'; exit 2; }`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.apply(exit.Done), "1.1  ✗ implement #1", "1.1  ✓ implement #2: gate unit: pass")
			if got := r.result("code"); got != "good" {
				t.Errorf("the result is %q", got)
			}
		},
	},
	{
		group: "agent", name: "it writes where it should not",
		want: "what lies outside the sprint's files fails the attempt before a gate is paid for; what lies outside its worktree is never collected",
		plan: `### Sprint 1.1: First

- [ ] do it

**Owns**: out
`,
		agent: `echo x > out
echo stray > "$TOP/stray"
grep -q shared.txt "$RALPH_FEEDBACK" && { git checkout -q "$(git rev-list --max-parents=0 HEAD)" -- shared.txt; exit 0; }
echo four >> shared.txt`,
		check: func(t *testing.T, r *cornerRepo) {
			out := r.apply(exit.Done)
			r.has(out, "1.1  ✗ implement #1", "shared.txt")
			if got := r.git("diff", "--name-only", "main", "ralph/plan/integration"); got != "out" {
				t.Errorf("the result changes %q, want out alone", got)
			}
			r.untouched()
		},
	},
	{
		group: "network", name: "the network is gone for a while",
		want: "an agent that cannot reach its service fails with what it printed, and the next attempt goes on",
		agent: `test -e "$TOP/up" || { touch "$TOP/up"; echo 'connection reset by peer' >&2; exit 1; }
echo x > out`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.apply(exit.Done), "connection reset by peer", "1 of 1 sprint done")
		},
	},
	{
		group: "network", name: "too many requests",
		want: "a rate limit parks the runner until the time that it names and costs no attempt",
		agent: `if test ! -e "$TOP/asked"; then
	touch "$TOP/asked"
	echo "HTTP 429: try again at $(cat "$TOP/until")" >&2
	exit 1
fi
echo x > out`,
		runner: `limited_when {
    output = "429: try again at (?P<until>\\S+)"
  }`,
		retry: `attempts = 1`,
		check: func(t *testing.T, r *cornerRepo) {
			r.write("../until", soon(3))
			out := r.apply(exit.Done)
			r.has(out, "limit", "1 of 1 sprint done")
			r.hasNot(out, "implement #2")
		},
	},
}

// standInGH plays GitHub's program: it remembers in $TOP/pr.json that the one pull
// request was made, and notes every call in $TOP/gh.log.
const standInGH = `#!/bin/sh
echo "$*" >> "$TOP/gh.log"
test -e "$TOP/down" && { rm "$TOP/down"; echo 'error connecting to api.github.com' >&2; exit 1; }
case "$1 $2" in
"auth status" | "--version ") echo "gh version 2.60.0" ;;
"pr list") if test -e "$TOP/pr"; then echo '[{"number":7,"url":"https://example.org/pull/7","state":"OPEN","title":"","body":"","baseRefName":"main"}]'; else echo '[]'; fi ;;
"pr create") touch "$TOP/pr"; echo https://example.org/pull/7 ;;
"pr view") echo '{"number":7,"url":"https://example.org/pull/7","state":"OPEN","title":"","body":"","baseRefName":"main"}' ;;
esac
`

//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

const joinedSprints = twoSprints + `
### Sprint 1.2: Both

- [ ] join them
`

var cornerMerges = []cornerCase{
	{
		group: "merge", name: "results conflict",
		want: "the agent of the sprint that joins them resolves it in its worktree; markers that are left fail that attempt",
		plan: joinedSprints,
		agent: `case "$RALPH_STEP/$RALPH_NODE" in
merge/*)
	prompt=$(cat)
	for word in '- shared.txt' 'ralph/plan/1-1a-first' 'ralph/plan/1-1b-second'; do
		case $prompt in *"$word"*) ;; *) echo "the prompt lacks $word" >&2; exit 1 ;; esac
	done
	grep -q '<<<<<<<' shared.txt || { echo 'no conflict to resolve' >&2; exit 1; }
	test -e "$TOP/tried" || { touch "$TOP/tried"; exit 0; }
	sed -i.orig -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' shared.txt && rm shared.txt.orig && git add shared.txt ;;
*/1.2) echo joined > out ;;
*) sed "s/two/two of $RALPH_NODE/" shared.txt > new && mv new shared.txt ;;
esac`,
		check: func(t *testing.T, r *cornerRepo) {
			out := r.apply(exit.Done)
			r.has(out, "1.2   ⑂ merge #1: a conflict to resolve in shared.txt", "1.2   ✗ merge #1", "1.2   ✓ merge #2: the conflict is resolved", "3 of 3 sprints done")
			if got := r.result("shared.txt"); got != "one\ntwo of 1.1a\ntwo of 1.1b\nthree" {
				t.Errorf("the result is %q", got)
			}
			if n := strings.Count(r.git("log", "--merges", "--format=%p", "main..ralph/plan/integration"), "\n"); n != 0 {
				t.Errorf("%d merges, want 1", n+1)
			}
			r.untouched()
		},
	},
	{
		group: "merge", name: "results merge, and do not work together",
		want: "what is joined is judged as a whole: the conflict agent fixes it with feedback, no sprint's own state changes",
		plan: twoSprints,
		agent: `case "$RALPH_NODE" in
integration) grep -q 'both are there' "$RALPH_FEEDBACK" || exit 1; rm out-1.1b ;;
*) echo x > "out-$RALPH_NODE" ;;
esac`,
		unit: `! { test -e out-1.1a && test -e out-1.1b && echo 'both are there'; }`,
		policy: `integration {
  conflict_agent = agent.coder
}`,
		check: func(t *testing.T, r *cornerRepo) {
			out := r.apply(exit.Done)
			r.has(out, "2 of 2 sprints done", "integration")
			if got := r.git("ls-tree", "--name-only", "ralph/plan/integration", "out-1.1a", "out-1.1b"); got != "out-1.1a" {
				t.Errorf("the result holds %q", got)
			}
		},
	},
}

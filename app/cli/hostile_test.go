//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// What was made from a result before is kept when it comes out the same again, and
// the sum holds these files already: nobody has to resolve anything.
func TestAResultThatComesOutTheSameConflictsWithNothing(t *testing.T) { // execution §2, §5: base identity is trees
	t.Parallel()
	s := newSite(t, `case "$RALPH_STEP/$RALPH_NODE" in
merge/*) git checkout -q --theirs README.md; git add README.md ;;
*/1.3) echo joined > README.md ;;
*) sed "s/two/two of $RALPH_NODE/" README.md > new; mv new README.md ;;
esac`, executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"}))
	s.apply(exit.Done)
	was := s.git("rev-parse", "ralph/x/integration^{tree}")
	got := s.apply(exit.Done, "--rerun", "1.1")
	if !strings.Contains(got.out, "1.1  ✔ done") {
		t.Errorf("1.1 did not run again:\n%s", got.out)
	}
	if is := s.git("rev-parse", "ralph/x/integration^{tree}"); is != was || strings.Contains(got.out, "conflict") {
		t.Errorf("the integration branch held %s and holds %s:\n%s", was, is, got.out)
	}
	s.git("merge-base", "--is-ancestor", "refs/ralph/bd-epic/nodes/bd-1-1/result", "ralph/x/integration") // the account is true
}

// What an agent leaves where ralph writes: links to the user's files, and pipes.
func TestRalphWritesIntoNothingThatAnAgentLaid(t *testing.T) { // N5: nothing of the user's is touched
	t.Parallel()
	s := newSite(t, siteWork+`
for f in changes.json gate-check.log gate-check.out gate-check.err gate-check.tests.jsonl success-check.json; do ln -s "$TOP/home/.keep" "$(dirname "$RALPH_OUTCOME")/$f"; done
`, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{} }))
	s.apply(exit.Done)
	if got := s.read("../home/.keep"); got != "" {
		t.Errorf("ralph wrote through a link: %q", got)
	}
	p := newSite(t, siteWork+`
for f in changes.json gate-check.log gate-check.out gate-check.err; do mkfifo "$(dirname "$RALPH_OUTCOME")/$f"; done
`, executortest.Epic([]string{"1.1"}))
	p.apply(exit.Done)
}

// Between two runs nothing goes on by itself: status says what to type.
func TestStatusSaysWhatBeginsIt(t *testing.T) { // execution §5: what to type next
	t.Parallel()
	s := newSite(t, `[ "$RALPH_NODE" != 1.1 ] || exit 3`, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.Attempts = 1 }))
	s.apply(exit.NotDone)
	s.ralph("skip", "1.1")
	if got := s.ralph("status").out; !strings.Contains(got, "1.2  ready: ralph apply begins it") {
		t.Errorf("status:\n%s", got)
	}
}

// An agent moves the pinned base to a commit with weaker tests: what is protected
// is compared with the base, so the next run would start from them and pass.
func TestTheBaseIsWhereTheJournalSaysThatItWasPinned(t *testing.T) { // execution §2: the base is pinned by the first apply; §3: protect
	t.Parallel()
	s := newSite(t, siteWork+`
if [ "$RALPH_NODE" = 1.1 ]; then
	echo 'exit 0 # always' > "$TOP/weak"
	blob=$(git hash-object -w "$TOP/weak")
	tree=$(GIT_INDEX_FILE=$TOP/index sh -c "git read-tree HEAD && git update-index --cacheinfo 100755,$blob,tests/a_test.sh && git write-tree")
	git update-ref "refs/ralph/$RALPH_EPIC/base" "$(git -c user.name=x -c user.email=x@y commit-tree -p HEAD -m weak "$tree")"
elif [ ! -e "$TOP/again" ]; then
	exit 3
fi`, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) { e.Nodes[1].Steps[0].Limits.Attempts = 1 }))
	s.apply(exit.NotDone)
	s.write("../again", "")
	s.ralph("retry", "1.2")
	got := s.apply(exit.Done)
	if !strings.Contains(got.all(), "refs/ralph/bd-epic/base stood at ") || strings.Contains(got.out, "1.1  ▶") {
		t.Errorf("apply said:\n%s", got.all())
	}
	if is := s.git("show", "ralph/x/integration:tests/a_test.sh"); is != "exit 0" {
		t.Errorf("the protected test is %q", is)
	}
	if base, main := s.git("rev-parse", "refs/ralph/bd-epic/base"), s.git("rev-parse", "main"); base != main {
		t.Errorf("the base is %s, not %s", base, main)
	}
	s.git("commit", "-q", "--allow-empty", "-m", "more")
	s.apply(exit.Done, "--rebase")
	if base, main := s.git("rev-parse", "refs/ralph/bd-epic/base"), s.git("rev-parse", "main"); base != main {
		t.Errorf("after --rebase the base is %s, not %s", base, main)
	}
}

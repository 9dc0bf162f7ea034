//go:build unix

package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/term"
)

// The monitor cuts a diff that is too long, and names a command that prints all of it: also of
// an epic that is not in epic.json.
func TestADiffThatTheMonitorCutsNamesWhatPrintsIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, `for f in a b; do yes "a line of a long file" | head -n 100000 > $f.txt; done; echo "the end" > c.txt`, executortest.Epic([]string{"1.1"}))
	if err := os.Rename(s.file("epic.json"), s.file("other.json")); err != nil {
		t.Fatal(err)
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "another name")
	s.apply(exit.Done, "other.json")
	d, err := newDesk(t.Context(), []string{s.dir}, term.Style{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	b, err := d.look(t.Context())
	if err != nil || len(b.Epics) != 1 {
		t.Fatalf("%v %+v", err, b)
	}
	diff, err := d.diff(t.Context(), view.Spot{Epic: b.Epics[0].ID, Key: "1.1"})
	if err != nil {
		t.Fatal(err)
	}
	const command = "ralph show 1.1 --diff --epic .git/ralph/bd-epic/epic.json"
	if end := diff.Text[max(0, len(diff.Text)-100):]; !strings.HasSuffix(end, "… (it is longer: "+command+")\n") {
		t.Errorf("%d bytes, it ends with %q", len(diff.Text), end)
	}
	if got := s.ralph(strings.Fields(command)[1:]...); got.code != exit.Done || !strings.Contains(got.out, "+the end\n") {
		t.Errorf("%s: %d %s", command, got.code, got.err)
	}
}

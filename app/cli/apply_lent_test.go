//go:build unix

package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// An epic that somebody made in bd, with children and edges, is imported and applied with
// its mirror, under its own ids. What people wrote there stays; bd gets no other bead but
// what tells of the modes.
func TestAnEpicOfPeopleIsAppliedWithItsMirror(t *testing.T) { // S2-15, S2-16, S2-21, S2-24, S2-29
	t.Parallel()
	d := faultDatabase(t, writesItsName, importedPolicy)
	appliesAnEpicOfPeople(t, d)
	for _, c := range d.bd.Calls() {
		for _, word := range []string{"import", "--title", "--description", "--acceptance", "--type", "--priority", "dep"} {
			if slices.Contains(c.Args, word) && c.Actor != "ada" {
				t.Errorf("bd was called with %q", c.Args)
			}
		}
	}
}

func TestBdAnEpicOfPeopleIsAppliedWithItsMirror(t *testing.T) { // S2-15, S2-16, S2-21, S2-24, S2-29
	t.Parallel()
	appliesAnEpicOfPeople(t, realDatabase(t, writesItsName, importedPolicy))
}

const (
	writesItsName  = `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`
	importedPolicy = plainSteps + "tracker \"bd\" {\n}\n"
)

func appliesAnEpicOfPeople(t *testing.T, d *database) {
	d.put(`{"id":"bd-e","issue_type":"epic","title":"Ada's epic","labels":["hers"],"metadata":{"plan_file":"mine.md"},"created_at":"2026-01-01T00:00:00Z"}`,
		`{"id":"bd-a","labels":["api"],"priority":1,"metadata":{"branch":"mine"},"created_at":"2026-01-01T00:00:00Z","dependencies":[{"issue_id":"bd-a","depends_on_id":"bd-e","type":"parent-child"}]}`,
		`{"id":"bd-b","created_at":"2026-01-01T00:00:00Z","dependencies":[{"issue_id":"bd-b","depends_on_id":"bd-e","type":"parent-child"},{"issue_id":"bd-b","depends_on_id":"bd-a","type":"blocks"}]}`,
		`{"id":"bd-other","labels":["others"],"status":"deferred"}`)
	d.write("issues.json", string(d.do("ada", "list", "--all", "--limit", "0", "--id", "bd-e,bd-a,bd-b")))
	if got := d.ralph("import", "--as", "bd", "issues.json"); got.code != exit.Done {
		t.Fatalf("import: %s", got.all())
	}
	if got := d.ralph("apply"); got.code != exit.Done || strings.Contains(got.all(), "not mirrored") || strings.Contains(got.all(), "is missing updates") {
		t.Fatalf("apply: exit %d\n%s", got.code, got.all())
	}
	for id, want := range map[string]struct {
		title, mine string
		labels      []string
	}{
		"bd-e": {"Ada's epic", `"plan_file":"mine.md"`, []string{"hers", "mode:complete", "ralph-epic:bd-e"}},
		"bd-a": {"Make bd-a", `"branch":"mine"`, []string{"api", "ralph-epic:bd-e"}},
		"bd-b": {"Make bd-b", `"ralph":{`, []string{"ralph-epic:bd-e"}},
	} {
		i := d.bead(id)
		slices.Sort(i.Labels)
		if i.Status != "closed" || i.Title != want.title || !slices.Equal(i.Labels, want.labels) || !strings.Contains(string(i.Metadata), want.mine) || strings.Contains(string(i.Metadata), "dev_prompts") || id != "bd-e" && i.Type != "task" {
			t.Errorf("%s is %+v", id, i)
		}
	}
	if c := d.comments("bd-a"); !strings.Contains(c, "[iter:1] [task:bd-a]") {
		t.Errorf("bd-a is commented:\n%s", c)
	}
	if o := d.bead("bd-other"); o.Status != "deferred" || !strings.HasPrefix(o.UpdatedAt.String(), "2026-01-01") {
		t.Errorf("another bead: %+v", o)
	}
	// What was imported is read back as any other epic, and a second push has nothing to do.
	if got := d.ralph("apply"); got.code != exit.Done || strings.Contains(got.all(), "pushed bd-e") {
		t.Errorf("again: %s", got.all())
	}
}

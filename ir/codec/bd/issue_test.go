package bd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bd"
)

// said are the codes of what is said, sorted, notes in brackets.
func said(list diag.List) string {
	var out []string
	for _, x := range list {
		s := string(x.Code)
		if x.Severity == diag.Note {
			s = "(" + s + ")"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// of is an issue with more keys, the last of which count.
func of(id, more string) string { return fmt.Sprintf(`{"id":%q,"title":"T"%s}`, id, more) }

func deps(list string) string { return `,"dependencies":[` + list + `]` }

func on(to, kind string) string { return fmt.Sprintf(`{"depends_on_id":%q,"type":%q}`, to, kind) }

// What an issue's dependencies become: edges; what is none is kept; what cannot be meant is
// said. S0-12, S4-17..21
func TestWhatADependencyBecomes(t *testing.T) {
	const epic = `,"issue_type":"epic"`
	for _, c := range []struct{ name, issues, edges, kept, codes string }{
		{"not a list", of("b", `,"dependencies":"a"`), "", "", "bead-value"},
		{"an id that is none", of("5", "") + of("b", deps(`{"depends_on_id":5}`)), "", "", "bead-value"},
		{"an empty one beside another", of("a", "") + of("b", deps(`{"depends_on_id":"","id":"a"}`)), "b blocks a", "", ""},
		{"one that is gone", of("b", deps(on("a", "blocks"))), "", `[{"depends_on_id":"a","type":"blocks"}]`, "bead-dependency"},
		{"a soft one that is gone", of("b", deps(on("a", "related"))), "", `[{"depends_on_id":"a","type":"related"}]`, ""},
		{"a soft one", of("a", "") + of("b", deps(on("a", "related"))), "b related a", "", ""},
		{"another word for it", of("a", "") + of("b", deps(on("a", "relates-to"))), "b related a", `[{"depends_on_id":"a","type":"relates-to"}]`, ""},
		{"another word for blocks", of("a", "") + of("b", deps(on("a", "waits-for"))), "b blocks a", `[{"depends_on_id":"a","type":"waits-for"}]`, ""},
		{"one that orders nothing", of("a", "") + of("b", deps(on("a", "tracks"))), "", `[{"depends_on_id":"a","type":"tracks"}]`, ""},
		{"one of no type of bd's", of("a", "") + of("b", deps(on("a", "needs"))), "", `[{"depends_on_id":"a","type":"needs"}]`, "bead-dependency"},
		{"the stronger of two", of("a", "") + of("b", deps(on("a", "related")+","+on("a", "blocks"))), "b blocks a", "", ""},
		{"in the other order", of("a", "") + of("b", deps(on("a", "blocks")+","+on("a", "related"))), "b blocks a", "", ""},
		{"a parent", of("a", "") + of("b", `,"parent":"a"`), "b parent-child a", "", ""},
		{"a parent that is an edge", of("a", "") + of("c", "") + of("b", `,"parent":"c"`+deps(on("a", "parent-child"))), "b parent-child a", "", ""},
		{"a parent that is the first edge", of("a", "") + of("c", "") + of("b", `,"parent":"c"`+deps(on("a", "parent-child")+","+on("c", "tracks"))), "b parent-child a", `[{"depends_on_id":"c","type":"tracks"}]`, ""},
		{"a parent beside another edge", of("a", "") + of("c", "") + of("b", `,"parent":"c"`+deps(on("a", "blocks"))), "b blocks a, b parent-child c", "", ""},
		{"parents that are none", of("a", `,"parent":""`) + of("b", `,"parent":null`), "", "", ""},
		{"a parent that is gone", of("b", `,"parent":"a"`+deps(on("a", "parent-child"))), "", `[{"depends_on_id":"a","type":"parent-child"}]`, ""},
		{"what its epic waits for", of("a", "") + of("e", epic+deps(on("a", "blocks"))) + of("b", `,"parent":"e"`), "b blocks a", "", "(bead-place)"},
		{"an epic that waits for its child", of("e", epic+deps(on("a", "blocks"))) + of("a", `,"parent":"e"`) + of("b", `,"parent":"e"`), "", "", ""},
		{"a child that waits for its epic", of("e", epic) + of("a", `,"parent":"e"`) + of("b", deps(on("e", "parent-child")+","+on("e", "blocks"))), "", `[{"depends_on_id":"e","type":"parent-child"},{"depends_on_id":"e","type":"blocks"}]`, ""},
		{"a soft one to an epic", of("e", epic) + of("a", `,"parent":"e"`) + of("b", deps(on("e", "related"))), "", `[{"depends_on_id":"e","type":"related"}]`, ""},
		{"a soft one of an epic", of("a", "") + of("e", epic+deps(on("a", "related"))) + of("b", `,"parent":"e"`), "", "", ""},
		{"two parents", of("e", epic) + of("f", epic) + of("a", `,"parent":"f"`) + of("c", deps(on("f", "blocks"))) + of("b", deps(on("e", "parent-child")+","+on("f", "parent-child"))), "c blocks a", `[{"depends_on_id":"e","type":"parent-child"},{"depends_on_id":"f","type":"parent-child"}]`, "(bead-place)"},
		{"a parent of its parent", of("a", epic+`,"parent":"b"`) + of("b", epic+`,"parent":"a"`), "", "", ""},
	} {
		d, list := decode(t, strings.ReplaceAll(c.issues, `}{"id"`, "}\n"+`{"id"`))
		kept := ""
		if d != nil {
			_, more, _ := strings.Cut(string(d.Nodes[len(d.Nodes)-1].Ext[bd.Format]), `"dependencies":`)
			kept = strings.TrimSuffix(more, "}")
		}
		if got := strings.Join(edgesOf(d), ", "); got != c.edges || kept != c.kept || said(list) != c.codes || (d == nil) != list.HasErrors() {
			t.Errorf("%s: %q, kept %s (%s), want %q, %s (%s)", c.name, got, kept, said(list), c.edges, c.kept, c.codes)
		}
	}
}

// What the other keys of an issue become, and what is said of them. S0-05..13, S4-12..16
func TestWhatTheKeysOfAnIssueBecome(t *testing.T) {
	for _, c := range []struct{ more, want, codes string }{
		{`,"priority":2`, `work {}`, ""},
		{`,"dependency_count":1,"parent":null,"revision":4,"_type":"issue"`, `work {}`, ""},
		{`,"created_by":"ana","x":1`, `work {"created_by":"ana","x":1}`, "(bead-unknown-key)"},
		{`,"description":" one\r\ntwo ","notes":"n"`, `work goal=one|two text=n {"description":" one\r\ntwo ","notes":"n"}`, ""},
		{`,"description":5`, "", "bead-value"},
		{`,"estimated_minutes":0`, `work {"estimated_minutes":0}`, ""},
		{`,"estimated_minutes":1`, `work estimate=1m {"estimated_minutes":1}`, ""},
		{`,"estimated_minutes":-1`, "", "bead-value"},
		{`,"issue_type":""`, `work {"issue_type":""}`, ""},
		{`,"issue_type":"beads-ralph-work"`, `work {"issue_type":"beads-ralph-work"}`, ""},
		{`,"issue_type":"beads-ralph-merge"`, `merge {"issue_type":"beads-ralph-merge"}`, ""},
		{`,"issue_type":"gate"`, `manual type=gate {"issue_type":"gate"}`, ""},
		{`,"issue_type":"bug"`, `work type=bug {"issue_type":"bug"}`, ""},
		{`,"issue_type":5`, "", "bead-value"},
		{`,"status":"CLOSED"`, `work done {"status":"CLOSED"}`, "(bead-completed)"},
		{`,"status":"blocked"`, `work {"status":"blocked"}`, "bead-status"},
		{`,"status":"deferred"`, `work {"status":"deferred"}`, ""},
		{`,"status":5`, "", "bead-value"},
		{`,"labels":[" a ","ralph","ralph-epic:x","complexity:high"]`, `work labels=a,complexity:high {}`, ""},
		{`,"labels":["a","complexity:high"],"issue_type":"epic"`, `work type=epic labels=a {"issue_type":"epic"}`, ""},
		{`,"labels":["phase:test","phase:test"]`, `work labels=phase:test,phase:test start=test {}`, ""},
		{`,"labels":[" "]`, "", "bead-value"},
		{`,"acceptance_criteria":"  - one \n* [x]\n- [ ] - two\n\n- [x] three"`, `work accepts=one|[x]|- two|three`, ""},
		{`,"_type":"memory"`, "", "(bead-place) bead-missing"},
		{`,"issue_type":"message"`, "", "(bead-place) bead-missing"},
	} {
		d, list := decode(t, of("a", c.more))
		got := ""
		if d != nil {
			got = keys(&d.Nodes[0])
			if strings.Contains(c.more, "accept") {
				got, _, _ = strings.Cut(got, " {")
			}
		}
		if got != c.want || said(list) != c.codes {
			t.Errorf("%s: %s (%s), want %s (%s)", c.more, got, said(list), c.want, c.codes)
		}
	}
}

func keys(n *ir.DraftNode) string {
	out := []string{map[ir.Kind]string{ir.Work: "work", ir.Merge: "merge", ir.Manual: "manual"}[n.Kind]}
	if n.Done {
		out = append(out, "done")
	}
	if n.Type.Set() {
		out = append(out, "type="+n.Type.Value)
	}
	for _, x := range []struct{ name, value string }{
		{"goal", strings.ReplaceAll(n.Goal, "\n", "|")},
		{"text", strings.Join(n.Text, "|")},
		{"accepts", strings.Join(n.Acceptance, "|")},
		{"labels", strings.Join(n.Labels, ",")},
		{"start", n.Start.Value},
		{"estimate", n.Estimate.Value},
	} {
		if x.value != "" {
			out = append(out, x.name+"="+x.value)
		}
	}
	return strings.Join(append(out, string(n.Ext[bd.Format])), " ")
}

// What heads the issues: the one epic that holds them all, else the file; the owner is the
// one of all. S0-11, S2-02
func TestWhatHeadsTheIssues(t *testing.T) {
	epic := of("e", `,"issue_type":"epic","description":"one\ntwo","owner":"ana","labels":["x","complexity:high"]`)
	for _, c := range []struct{ name, issues, want string }{
		{"an epic", epic + "\n" + of("a", `,"parent":"e","owner":"bo"`), `e "T" t "ana" "one|two" [x] 1`},
		{"an epic that says nothing", of("e", `,"issue_type":"epic"`) + "\n" + of("a", `,"parent":"e","owner":"bo"`), `e "T" t "" "" [] 1`},
		{"an epic without children", epic, ` "issues" issues "ana" "" [] 1`},
		{"a parent that is no epic", of("e", "") + "\n" + of("a", `,"parent":"e"`), ` "issues" issues "" "" [] 2`},
		{"an epic beside another issue", epic + "\n" + of("a", `,"parent":"e"`) + "\n" + of("b", ""), ` "issues" issues "" "" [] 2`},
		{"two of one owner", of("a", `,"owner":"bo"`) + "\n" + of("b", `,"owner":"bo"`), ` "issues" issues "bo" "" [] 2`},
		{"two of two", of("a", `,"owner":"bo"`) + "\n" + of("b", `,"owner":"ana"`), ` "issues" issues "" "" [] 2`},
	} {
		d, list := decode(t, c.issues)
		if d == nil {
			t.Errorf("%s: %v", c.name, list)
			continue
		}
		if got := fmt.Sprintf("%s %q %s %q %q %s %d", d.ID, d.Title, d.Slug, d.Owner, strings.Join(d.Description, "|"), d.Labels, len(d.Nodes)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for text, want := range map[string]string{"[]": "bead-missing", "5": "bead-json"} {
		if d, list := decode(t, text); d != nil || said(list) != want {
			t.Errorf("%s: %v", text, list)
		}
	}
	if d, list := bd.Decode(nil); d != nil || list != nil {
		t.Errorf("of no file: %+v, %v", d, list)
	}
}

package ralphbead_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// The published examples, one by the schema of the repository, and one as PowerShell
// leaves it are written as they stand in testdata/*.out.json. S3-30, S3-31, S3-32, L3-01, L3-03
func TestExamplesAreWritten(t *testing.T) {
	for _, name := range []string{"task", "gate", "verifiers", "repository", "powershell"} {
		e, l := epicOf(t, example(t, name))
		if e == nil {
			t.Fatal(l)
		}
		got, breaches := export(t, e, nil)
		golden.Check(t, "testdata/"+name+".out.json", []byte(got))
		if len(breaches) > 0 {
			t.Errorf("%s: %v", name, breaches)
		}
	}
}

// Everything that the schema of the repository has besides means something or is
// kept. S3-41, L3-01
func TestTheSchemaOfTheRepository(t *testing.T) {
	d, l := decode(example(t, "repository"))
	if len(l) != 1 || l[0].Code != "bead-place" || !strings.Contains(l[0].Detail, "drop database") {
		t.Fatal(l)
	}
	n := d.Nodes[0]
	if strings.Join(n.Scope.Owns, " ") != "internal/** cmd/**" || n.Lane.Value != "hardening" || n.Kind != ir.Work || !n.Verify[0].Evidence || !n.Verify[1].Evidence || n.Verify[0].Name != "go-build" {
		t.Errorf("the node is %+v", n)
	}
	text := strings.Join(n.Text, "\n")
	for _, want := range []string{"This must not be done:\n\n- drop database", "Rules for migrations:\n\n- every migration can be undone", "Leave these files behind:\n\n- reports/*.pdf"} {
		if !strings.Contains(text, want) {
			t.Errorf("the agent is told\n%s\nwhich lacks\n%s", text, want)
		}
	}
	for _, c := range []struct {
		have     string // in a bead
		evidence bool
		kind     ir.Kind
	}{
		{`"lane": "feature"`, false, ir.Work},
		{`"lane": "patrol"`, true, ir.Work},
		{`"blocking": {"is_gate": true}`, true, ir.GateKind},
		{`"blocking": null`, false, ir.Work},
		{`"Artifacts": {}`, true, ir.Work},
		{`"$schema": "../.beads/schemas/ralph-bead.schema.json"`, true, ir.Work},
		{`"$schema": "http://json-schema.org/draft-07/schema#"`, false, ir.Work},
		{`"constraints": {"AllowedDirs": ["."]}`, true, ir.Work},
	} {
		d, l := decode(`{"id": "a", "title": "T", "intent": "I", ` + c.have + `, "dod": {"verifiers": [{"name": "N", "command": "true"}]}}`)
		if d == nil {
			t.Fatal(l)
		}
		if n := d.Nodes[0]; n.Verify[0].Evidence != c.evidence || n.Kind != c.kind || len(n.Scope.Owns) > 0 {
			t.Errorf("%s: evidence %v, kind %s, owns %q", c.have, n.Verify[0].Evidence, n.Kind, n.Scope.Owns)
		}
	}
	for _, wrong := range []string{
		`"constraints": {"allowed_dirs": ["../x"]}`, `"constraints": {"allowed_dirs": ["C:\\x"]}`, `"constraints": {"allowed_dirs": "x"}`, `"constraints": {"forbidden_ops": [1]}`,
		`"blocking": {"is_gate": "yes"}`, `"blocking": {"gate_type": "x"}`, `"blocking": []`, `"artifacts": {"logs": "x"}`, `"artifacts": 1`,
	} {
		_, l := decode(`{"id": "a", "title": "T", "intent": "I", ` + wrong + `, "dod": {"verifiers": [{"name": "N", "command": "true"}]}}`)
		if len(l) != 1 || l[0].Code != "bead-value" {
			t.Errorf("%s: %v", wrong, l)
		}
	}
}

// Several files make one draft without edges; what is wrong with each is found in the
// same go, in its own file. S3-38, S3-39, L3-01
func TestSeveralFilesMakeOneEpic(t *testing.T) {
	one := func(name, text string) *diag.File { return diag.NewFile(name, []byte(text)) }
	bead := func(id string) string {
		return `{"id": "` + id + `", "title": "T", "intent": "I", "dod": {"verifiers": [{"name": "N", "command": "true"}]}}`
	}
	d, l := ralphbead.Decode([]*diag.File{one(".ralph/beads/b.json", bead("gt-b")), one(".ralph/beads/a.json", "["+bead("gt-a1")+","+strings.Replace(bead("x"), `"id": "x", `, "", 1)+"]")})
	if d == nil || len(l) > 0 {
		t.Fatal(l)
	}
	var got []string
	for _, n := range d.Nodes {
		got = append(got, fmt.Sprint(n.Key, " ", n.Range.File, " ", len(n.Edges)))
	}
	if want := "gt-b .ralph/beads/b.json 0|gt-a1 .ralph/beads/a.json 0|a-2 .ralph/beads/a.json 0"; strings.Join(got, "|") != want {
		t.Errorf("the nodes are %s, want %s", strings.Join(got, "|"), want)
	}
	_, l = ralphbead.Decode([]*diag.File{one("1.json", `{"intent": 1, "priority": 9}`), one("2.json", bead("gt-1")), one("3.json", `{"intent": "x", "dod": `), one("4.json", "[]")})
	files := map[string]int{}
	for _, x := range l {
		files[x.Range.File]++
	}
	if files["1.json"] != 3 || files["2.json"] != 0 || files["3.json"] != 1 || files["4.json"] != 1 {
		t.Errorf("found %v: %v", files, l)
	}
	e, l := epicOf(t, bead("gt-1"), bead("gt-2"), bead("gt-1"))
	if e != nil || len(l) != 1 || l[0].Code != "duplicate-id" || l[0].Range.File != "beads/b2.json" || l[0].Related[0].Range.File != "beads/b0.json" {
		t.Errorf("ids that are there twice: %+v", l)
	}
}

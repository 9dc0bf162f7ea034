package policies

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
)

var noRange diag.Range

// Whatever stands in a policy, Decode neither panics nor hangs, and its ranges
// lie in the files.
func FuzzDecode(f *testing.F) {
	cases, _ := filepath.Glob("testdata/golden/*.txtar")
	for _, name := range cases {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range txtar.Parse(b).Files {
			if strings.HasSuffix(x.Name, ".hcl") && filepath.Base(name) != "expressions.txtar" {
				f.Add(x.Data, false)
			}
			if strings.HasSuffix(x.Name, ".json") {
				f.Add(x.Data, true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, isJSON bool) {
		name := "a.hcl"
		if isJSON {
			name = "a.hcl.json"
		}
		file := diag.NewFile(name, src)
		s, diags := Decode(Input{Files: []*diag.File{file}, Project: fstest.MapFS{"go.mod": {}}})
		checkDiags(t, diags, map[string]*diag.File{name: file})
		v := sampleNode()
		for _, g := range s.Gates {
			g.For(v)
		}
		for _, p := range s.Policies {
			p.For(v)
		}
		for _, r := range s.Rules {
			r.Node(v, samplePlan())
		}
		s.MatchComplexity(string(src), "", nil)
		_, diags = s.Fragment(file, src, 0, "plan")
		checkDiags(t, diags, map[string]*diag.File{name: file})
		Format(src)
	})
}

// Texts that a hostile plan or policy could hold: each must be refused, or
// decoded, in no time.
func TestHostileText(t *testing.T) {
	long := strings.Repeat("x", 1000)
	doubling := "locals {\n l0 = \"" + long + "\"\n"
	for i := range 40 {
		doubling += fmt.Sprintf(" l%d = \"${local.l%d}${local.l%d}\"\n", i+1, i, i)
	}
	for name, src := range map[string]string{
		"brackets":                strings.Repeat("x = [", 40_000),
		"parentheses":             "x = " + strings.Repeat("(", 200_000),
		"blocks":                  strings.Repeat("a {\n", 60_000),
		"templates in templates":  "x = " + strings.Repeat(`"${`, 200_000),
		"negations":               "x = " + strings.Repeat("!", 200_000),
		"minus signs":             "x = " + strings.Repeat("- ", 100_000) + "1",
		"a chain of conditions":   "x = " + strings.Repeat("a ? b : ", 100_000) + "c",
		"a long sum":              "x = 1" + strings.Repeat("+1", 100_000),
		"template directives":     "x = \"" + strings.Repeat("%{ if a }", 50_000) + "\"",
		"a long traversal":        "x = a" + strings.Repeat(".b", 200_000),
		"doubling locals":         doubling + "}",
		"a huge number":           "locals { x = 1e999999999 }",
		"a number of many digits": "locals { x = " + strings.Repeat("9", 100_000) + " }",
		"a number that grows":     "locals {\n a = 1e900\n b = local.a * local.a * local.a * local.a\n c = \"${local.b * local.b}\"\n}",
		"a number out of JSON":    "locals { x = join(\",\", jsondecode(\"[1e999999999]\")) }",
		"a wide format":           "locals { x = format(\"%999999999d\", 1) }",
		"a product of ranges":     "locals { x = length(setproduct(range(1000), range(1000), range(1000))) }",
		"nested for":              "locals { x = [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a]]] }",
		"a big replace":           "locals {\n a = format(\"%900s\", \"\")\n x = replace(replace(local.a, \" \", local.a), \" \", local.a)\n}",
		"an indent":               "locals { x = indent(999999999, \"a\\nb\") }",
		"a big join":              "locals {\n a = format(\"%900s\", \"\")\n b = [for i in range(1000) : local.a]\n x = [for i in range(1000) : join(local.a, local.b)]\n}",
		"deep JSON in text":       "locals { x = jsondecode(\"" + strings.Repeat("[", 100_000) + "\") }",
		"a huge file":             strings.Repeat("# x\n", 400_000),
		"many blocks":             strings.Repeat("agent \"a\" {}\n", 20_000),
		"terminal escapes":        "\x1b[31m\x07 = 1\nagent \"\x1b]0;x\x07\" { \"\x1b\" = 1 }",
		"odd Unicode":             "agent \"\u202e\u0000é\xff\" { path = \"\xff\" }",
		"NUL":                     "gate \"a\" { run = \"\x00\" }",
		"markers of run":          "gate \"a\" { run = \"\\u0001run.worktree\\u0002\" }",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			file := diag.NewFile("x.hcl", []byte(src))
			s, diags := Decode(Input{Files: []*diag.File{file}, Project: fstest.MapFS{}})
			checkDiags(t, diags, map[string]*diag.File{"x.hcl": file})
			for _, d := range diags {
				if strings.ContainsAny(d.Summary+d.Detail, "\x1b\x07\x00") {
					t.Errorf("control characters in %q", d.Summary+d.Detail)
				}
			}
			s.Fragment(file, []byte(src), 0, "plan")
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("takes %s", d)
			} else if d > time.Second {
				t.Logf("took %s", d)
			}
		})
	}
	deepJSON := diag.NewFile("x.json", []byte(strings.Repeat(`{"a":`, 100_000)))
	if _, diags := Decode(Input{Files: []*diag.File{deepJSON}}); len(diags) == 0 {
		t.Error("deep JSON is accepted")
	}
}

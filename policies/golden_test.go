package policies

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
)

var update = flag.Bool("update", false, "rewrite the golden cases")

// load splits an archive: policies are *.hcl, *.hcl.json at the root of the
// archive, project/ is the project, vars holds lines name=value; out/ is what is
// expected.
func load(t *testing.T, a *txtar.Archive) (Input, map[string]*diag.File) {
	t.Helper()
	in := Input{Version: "0.1.0", Vars: map[string]string{}}
	project := fstest.MapFS{}
	files := map[string]*diag.File{}
	for _, f := range a.Files {
		switch {
		case strings.HasPrefix(f.Name, "out/"):
		case strings.HasPrefix(f.Name, "project/"):
			project[strings.TrimPrefix(f.Name, "project/")] = &fstest.MapFile{Data: f.Data}
		case f.Name == "vars":
			for line := range strings.Lines(string(f.Data)) {
				k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
				in.Vars[k] = v
			}
		default:
			files[f.Name] = diag.NewFile(f.Name, f.Data)
			in.Files = append(in.Files, files[f.Name])
		}
	}
	in.Project = project
	return in, files
}

// S0-46, S0-49..54, S0-58, S4-22..28, S4-71..83, L4-02, L4-03
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no golden cases", err)
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			in, files := load(t, a)
			s, diags := Decode(in)
			got := map[string]string{"out/policy": dump(s, files), "out/diags": printDiags(diags, files)}

			// The order of files makes no difference.
			slices.Reverse(in.Files)
			s2, diags2 := Decode(in)
			if again := dump(s2, files); again != got["out/policy"] {
				t.Errorf("shuffled files give another policy:\n%s\nwant:\n%s", again, got["out/policy"])
			}
			if again := printDiags(diags2, files); again != got["out/diags"] {
				t.Errorf("shuffled files give other diagnostics:\n%s\nwant:\n%s", again, got["out/diags"])
			}
			checkDiags(t, diags, files)
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "out/") })
				for _, n := range []string{"out/policy", "out/diags"} {
					if got[n] != "" {
						a.Files = append(a.Files, txtar.File{Name: n, Data: []byte(got[n])})
					}
				}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := map[string]string{}
			for _, f := range a.Files {
				want[f.Name] = string(f.Data)
			}
			for _, n := range []string{"out/policy", "out/diags"} {
				if got[n] != want[n] {
					t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", n, got[n], want[n])
				}
			}
		})
	}
}

// checkDiags holds every diagnostic to the rules of the house.
func checkDiags(t *testing.T, l diag.List, files map[string]*diag.File) {
	t.Helper()
	for _, d := range l {
		if n := len([]rune(d.Summary)); n > 60 || n == 0 || strings.HasSuffix(d.Summary, ".") {
			t.Errorf("summary of %s is too long, empty or a sentence: %q", d.Code, d.Summary)
		}
		if d.Detail == "" || !strings.HasSuffix(d.Detail, ".") && !strings.HasSuffix(d.Detail, "?") && !strings.HasSuffix(d.Detail, "…") && !strings.HasSuffix(d.Detail, "}") {
			t.Errorf("detail of %s is no sentence: %q", d.Code, d.Detail)
		}
		for _, r := range append([]diag.Related{{Range: d.Range}}, d.Related...) {
			if r.Range.IsZero() {
				continue
			}
			f := files[r.Range.File]
			if f == nil && strings.HasPrefix(r.Range.File, "builtin/") {
				continue
			}
			if f == nil || r.Range.Start < 0 || r.Range.End < r.Range.Start || r.Range.End > len(f.Bytes) {
				t.Errorf("range of %s is outside its file: %+v", d.Code, r.Range)
			}
		}
	}
}

// Every code of the table has a golden case.
func TestEveryCodeHasACase(t *testing.T) {
	seen := map[string]bool{"agent-file-yaml": true, "policy-not-in-fence": true, "plan-text-in-command": true} // other tests: no policy file alone gives them
	cases, _ := filepath.Glob("testdata/golden/*.txtar")
	for _, name := range cases {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		in, _ := load(t, a)
		_, diags := Decode(in)
		for _, d := range diags {
			seen[string(d.Code)] = true
		}
	}
	for _, e := range diag.Table() {
		if e.About == "policy" && !seen[string(e.Code)] {
			t.Errorf("no golden case gives %s", e.Code)
		}
	}
}

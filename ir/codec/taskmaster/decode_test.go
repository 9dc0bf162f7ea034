package taskmaster

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign/foreigntest"
)

var update = flag.Bool("update", false, "rewrite the golden cases")

func compiled(name, text, tag string) compiler.Output {
	f := diag.NewFile(name, []byte(text))
	draft, list := decode([]*diag.File{f}, tag)
	return compiler.Compile(compiler.Input{
		Imports: []compiler.Imported{{Sources: []compiler.Source{{Path: name, Bytes: f.Bytes}}, Draft: draft, Diags: list}},
		Project: fstest.MapFS{},
	})
}

func printed(out compiler.Output, f *diag.File) (epic, diags string) {
	var b strings.Builder
	for _, r := range out.Results {
		if r.Epic == nil {
			continue
		}
		e := r.Epic
		fmt.Fprintf(&b, "epic %s %s %q %v\n", e.Epic.ID, e.Epic.Slug, e.Epic.Title, e.Epic.Description)
		for i := range e.Nodes {
			n := &e.Nodes[i]
			fmt.Fprintf(&b, "\n%s %s %s %q done %v priority %d type %q labels %v files %v reads %v\n", n.Key, n.ID, n.Kind, n.Title, n.Done, n.Priority, n.Type, n.Labels, n.Scope.Files, n.Scope.Reads)
			for _, a := range n.After {
				fmt.Fprintf(&b, "  after %s (%s, %s)\n", a.Key, a.From, a.Type)
			}
			fmt.Fprintf(&b, "  goal %q\n", n.Goal)
			for _, a := range n.Acceptance {
				fmt.Fprintf(&b, "  accept %q\n", a)
			}
			for _, t := range n.Tasks {
				fmt.Fprintf(&b, "  task %q %q\n", t.Text, t.Detail)
			}
			for _, k := range slices.Sorted(maps.Keys(n.Ext)) {
				fmt.Fprintf(&b, "  ext %s %s\n", k, n.Ext[k])
			}
			for _, l := range n.Prompt {
				fmt.Fprintf(&b, "  | %s\n", l)
			}
		}
	}
	epic = b.String()
	b.Reset()
	for _, d := range out.Diags {
		if d.Code == "no-command-gate" {
			continue
		}
		place := "-"
		if !d.Range.IsZero() {
			place = f.Position(d.Range.Start).String()
		}
		fmt.Fprintf(&b, "%s %s %s: %s\n  %s\n", place, d.Severity, d.Code, d.Summary, d.Detail)
	}
	return epic, b.String()
}

// A4 taskmaster, K3, K12
func TestGolden(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	if len(cases) < 3 {
		t.Fatalf("%d golden cases", len(cases))
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text, tag := "", ""
			for _, f := range a.Files {
				switch f.Name {
				case "tasks.json":
					text = string(f.Data)
				case "tag":
					tag = strings.TrimSpace(string(f.Data))
				}
			}
			epic, diags := printed(compiled("tasks.json", text, tag), diag.NewFile("tasks.json", []byte(text)))
			got := map[string]string{"out/epic": epic, "out/diags": diags}
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "out/") })
				for _, n := range []string{"out/epic", "out/diags"} {
					a.Files = append(a.Files, txtar.File{Name: n, Data: []byte(got[n])})
				}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range a.Files {
				if want, ok := got[f.Name]; ok && want != string(f.Data) {
					t.Errorf("%s is\n%s\nwant\n%s", f.Name, want, f.Data)
				}
			}
		})
	}
}

// Random lists in both forms: each task is a node in its place, each dependency an
// edge, each subtask a task behind those that it needs, and nothing else.
func TestRandomLists(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		type sub struct {
			ID           int    `json:"id"`
			Title        string `json:"title"`
			Dependencies []any  `json:"dependencies"`
		}
		type item struct {
			ID           any    `json:"id"`
			Title        string `json:"title"`
			Status       string `json:"status"`
			Dependencies []any  `json:"dependencies"`
			Subtasks     []sub  `json:"subtasks"`
		}
		var list []item
		want := map[string]map[string]bool{}
		subs := map[int]int{}
		n := 1 + rnd.IntN(12)
		for id := 1; id <= n; id++ {
			it := item{ID: id, Title: fmt.Sprintf("Task %d", id), Status: []string{"pending", "in-progress", "done", "cancelled", "deferred"}[rnd.IntN(5)]}
			if rnd.IntN(2) == 0 {
				it.ID = fmt.Sprint(id)
			}
			needs := map[string]bool{}
			depend := func() any {
				on := 1 + rnd.IntN(id-1)
				needs[fmt.Sprint(on)] = true
				switch k := subs[on]; {
				case k > 0 && rnd.IntN(2) == 0:
					return fmt.Sprintf("%d.%d", on, 1+rnd.IntN(k))
				case rnd.IntN(2) == 0:
					return on
				}
				return fmt.Sprint(on)
			}
			for range rnd.IntN(3) {
				if id > 1 {
					it.Dependencies = append(it.Dependencies, depend())
				}
			}
			k := rnd.IntN(5)
			order := rnd.Perm(k)
			for s := range k {
				x := sub{ID: s + 1, Title: fmt.Sprintf("%d.%d", id, s+1)}
				for other := range k {
					if order[other] < order[s] && rnd.IntN(3) == 0 {
						if rnd.IntN(2) == 0 {
							x.Dependencies = append(x.Dependencies, other+1)
						} else {
							x.Dependencies = append(x.Dependencies, fmt.Sprintf("%d.%d", id, other+1))
						}
					}
				}
				// A bare number that is a sibling's means the sibling.
				if id > 1 && rnd.IntN(4) == 0 {
					if on := 1 + rnd.IntN(id-1); on > k {
						needs[fmt.Sprint(on)] = true
						x.Dependencies = append(x.Dependencies, on)
					}
				}
				it.Subtasks = append(it.Subtasks, x)
			}
			subs[id] = k
			want[fmt.Sprint(id)] = needs
			list = append(list, it)
		}
		var file any = map[string]any{"tasks": list}
		if rnd.IntN(2) == 0 {
			file = map[string]any{"master": map[string]any{"tasks": list}, "empty": map[string]any{"tasks": []any{}}}
		}
		text, err := json.MarshalIndent(file, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		draft, diags := Decode([]*diag.File{diag.NewFile("tasks.json", text)})
		if draft == nil {
			t.Fatalf("seed %d: %v\n%s", seed, diags, text)
		}
		if len(draft.Nodes) != n {
			t.Fatalf("seed %d: %d nodes of %d tasks", seed, len(draft.Nodes), n)
		}
		for i, x := range draft.Nodes {
			got := map[string]bool{}
			for _, e := range x.Edges {
				got[string(e.Key)] = true
			}
			if !maps.Equal(got, want[string(x.Key)]) || string(x.Key) != fmt.Sprint(list[i].ID) {
				t.Errorf("seed %d: %s waits for %v, want %v", seed, x.Key, got, want[string(x.Key)])
			}
			place := map[string]int{}
			for k, task := range x.Tasks {
				place[task.Text] = k + 1
			}
			for _, s := range list[i].Subtasks {
				for _, need := range s.Dependencies {
					sibling := fmt.Sprint(need)
					if !strings.Contains(sibling, ".") {
						sibling = fmt.Sprintf("%v.%v", list[i].ID, need)
					}
					if place[sibling] > place[s.Title] || place[s.Title] == 0 {
						t.Errorf("seed %d: %s is before %s", seed, s.Title, sibling)
					}
				}
			}
			if done := list[i].Status == "done" || list[i].Status == "cancelled"; x.Done != done {
				t.Errorf("seed %d: %s is done: %v", seed, x.Key, x.Done)
			}
			if manual := list[i].Status == "deferred"; (x.Kind == ir.Manual) != manual {
				t.Errorf("seed %d: %s is %s", seed, x.Key, x.Kind)
			}
		}
		if out := compiled("tasks.json", string(text), ""); out.Diags.HasErrors() {
			t.Errorf("seed %d: %v", seed, out.Diags)
		}
	}
}

// K3: two tags of one file are two epics, none of whose ids meet.
func TestTagsAreEpicsOfTheirOwn(t *testing.T) {
	const text = `{"master": {"tasks": [{"id": 1, "title": "a"}]}, "web": {"tasks": [{"id": 1, "title": "b"}, {"id": 11, "title": "c"}]}}`
	ids := map[ir.NodeID]bool{}
	count := 0
	for _, tag := range []string{"master", "web"} {
		out := compiled("tasks.json", text, tag)
		if out.Diags.HasErrors() {
			t.Fatal(out.Diags)
		}
		e := out.Results[0].Epic
		ids[e.Epic.ID] = true
		count += 1 + len(e.Nodes)
		for _, n := range e.Nodes {
			ids[n.ID] = true
		}
	}
	if len(ids) != count {
		t.Errorf("%d ids for %d epics and nodes: %v", len(ids), count, ids)
	}
	for id := range ids {
		for other := range ids {
			if id != other && strings.HasPrefix(string(other), string(id)) {
				t.Errorf("%s is the beginning of %s", id, other)
			}
		}
	}
}

// The table of the document is that of the code.
func TestLossesStandInTheDocument(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/taskmaster.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := foreigntest.Table(Losses); !strings.Contains(string(b), table) {
		t.Errorf("docs/formats/taskmaster.md does not have this table:\n%s", table)
	}
}

// Whatever the bytes are: no panic, places inside of the file, and a draft exactly
// when there is no error, which compiles or says why not.
func FuzzDecode(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range cases {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range a.Files {
			if x.Name == "tasks.json" {
				f.Add(string(x.Data), "")
				f.Add(string(x.Data), "web")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, tag string) {
		draft, list := decode([]*diag.File{diag.NewFile("tasks.json", []byte(text))}, tag)
		if (draft == nil) != list.HasErrors() {
			t.Errorf("draft %v with %v", draft != nil, list)
		}
		for _, d := range list {
			if d.Range.Start > d.Range.End || d.Range.End > len(text) {
				t.Errorf("%s at %v of %d bytes", d.Code, d.Range, len(text))
			}
		}
		if draft != nil {
			out := compiled("tasks.json", text, tag)
			if !out.Diags.HasErrors() && len(out.Results) == 0 {
				t.Error("neither an epic nor an error")
			}
		}
	})
}

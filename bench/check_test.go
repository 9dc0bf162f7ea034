package bench

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

const (
	countsFile = "counts.txt"
	tolerance  = 0.05
)

// TestCounts holds what can be counted to within 5% of counts.txt. A count is the same
// on each machine, which a time is not. RALPH_BENCH_CHECK=1 runs it, =update writes
// the file anew.
func TestCounts(t *testing.T) {
	mode := os.Getenv("RALPH_BENCH_CHECK")
	if mode == "" {
		t.Skip("make bench-check runs it")
	}
	now := map[string]float64{}
	countCompile(t, now)
	countApply(t, now)
	countStart(t, now)
	countGit(t, now)
	countAgents(t, now)

	names := slices.Sorted(maps.Keys(now))
	if mode == "update" {
		var b strings.Builder
		b.WriteString("# What `make bench-check` holds to within 5%; `make bench-check UPDATE=1` writes it.\n")
		for _, name := range names {
			fmt.Fprintf(&b, "%-40s %s\n", name, figure(now[name]))
		}
		if err := os.WriteFile(countsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := counts(t)
	const update = "If that is meant, make bench-check UPDATE=1, and say in the commit why."
	for _, name := range names {
		was, ok := want[name]
		switch {
		case !ok:
			t.Errorf("%s is %s and stands not in %s. %s", name, figure(now[name]), countsFile, update)
		case math.Abs(now[name]-was) > tolerance*was:
			t.Errorf("%s was %s and is %s (%+.1f%%). %s", name, figure(was), figure(now[name]), 100*(now[name]-was)/was, update)
		}
	}
	for name := range want {
		if _, ok := now[name]; !ok {
			t.Errorf("%s stands in %s and is not counted. %s", name, countsFile, update)
		}
	}
}

func figure(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

// counts reads what is on record: lines of a name, spaces and a number.
func counts(t *testing.T) map[string]float64 {
	t.Helper()
	b, err := os.ReadFile(countsFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", countsFile, line, err)
		}
		out[strings.TrimSpace(line[:max(i, 0)])] = n
	}
	return out
}

// allocated is how many allocations, and bytes, f needs.
func allocated(f func()) (objects, size float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
}

func countCompile(t *testing.T, now map[string]float64) {
	const nodes = 2000
	in := compiler.Input{Plans: []compiler.Source{{Path: "plan.md", Bytes: Plan(nodes)}}}
	compiler.Compile(in) // what is made once is made
	var out compiler.Output
	objects, size := allocated(func() { out = compiler.Compile(in) })
	b := out.Results[0].JSON
	now["compile: allocations per node"] = objects / nodes
	now["compile: allocated bytes per node"] = size / nodes
	now["epic.json: bytes per node"] = float64(len(b)) / nodes
	objects, size = allocated(func() {
		if _, err := ir.Decode(b); err != nil {
			t.Fatal(err)
		}
	})
	now["epic.json read: allocations per node"] = objects / nodes
	now["epic.json read: allocated bytes per node"] = size / nodes
}

// countApply walks nodes with the made-up workspace, then replays what the journal
// has: once with a Todo behind each event, once without.
func countApply(t *testing.T, now map[string]float64) {
	const nodes = 1000
	epic := noOps(nodes)
	epic.Run.Concurrency.Nodes = 1 // so that the events stand in the same order always
	w := newWorkshop(t, epic)
	whole, _ := allocated(func() { w.apply(t, nil) })
	now["apply: allocations of a run per node"] = whole / nodes
	log, err := journal.Open(w.state, w.epic.Epic.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var events []executor.Event
	for e, err := range log.Events(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	replay := func(ask bool) float64 {
		run, err := machine.New(w.epic)
		if err != nil {
			t.Fatal(err)
		}
		objects, _ := allocated(func() {
			for _, e := range events {
				if err := run.Apply(e); err != nil {
					t.Fatal(err)
				}
				if ask {
					run.Todo(e.At)
				}
			}
		})
		return objects
	}
	without := replay(false)
	now["apply: events per node"] = float64(len(events)) / nodes
	now["apply: allocations of Apply per node"] = without / nodes
	now["apply: allocations of Todo per node"] = (replay(true) - without) / nodes
}

var initLine = regexp.MustCompile(`(?m)^init (main|github\.com/ralph-compiler/ralph/\S+) @.* (\d+) bytes, (\d+) allocs$`)

// countStart counts what packages of ralph allocate before main.
func countStart(t *testing.T, now map[string]float64) {
	ralph, _, _, _ := programs(t)
	cmd := exec.Command(ralph, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var size, objects float64
	for _, m := range initLine.FindAllSubmatch(out, -1) {
		b, _ := strconv.ParseFloat(string(m[2]), 64)
		n, _ := strconv.ParseFloat(string(m[3]), 64)
		size, objects = size+b, objects+n
	}
	if objects == 0 {
		t.Fatalf("no package of ralph in\n%s", out)
	}
	now["start: allocations of ralph's packages"] = objects
	now["start: bytes allocated by them"] = size
}

// countGit counts the git processes of a real apply: what ten more nodes cost.
func countGit(t *testing.T, now map[string]float64) {
	ralph, _, _, _ := programs(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	few, many := gitProcesses(t, ralph, real, 5), gitProcesses(t, ralph, real, 15)
	now["apply: git processes per node"] = float64(many-few) / 10
	now["apply: git processes of a run of 5 nodes"] = float64(few)
}

func gitProcesses(t *testing.T, ralph, git string, nodes int) int {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	log := filepath.Join(bin, "log")
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(bin, "git"), fmt.Sprintf("#!/bin/sh\necho x >> '%s'\nexec '%s' \"$@\"\n", log, git), 0o755)
	var plan strings.Builder
	plan.WriteString("# Counted\n")
	for i := range nodes {
		fmt.Fprintf(&plan, "\n## Phase %d\n\n### Sprint %d.1: Step %d\n\nWrite a file.\n\n**Verify**: `true`\n", i+1, i+1, i+1)
	}
	write(filepath.Join(dir, "plan.md"), plan.String(), 0o644)
	write(filepath.Join(dir, "ralph.hcl"), `runner "script" {
  kind = "command"
  run  = ["sh", "-c", "date >> $RALPH_NODE.txt"]
}
agent "coder" {
  runner       = runner.script
  capabilities = ["implement"]
  access       = "write"
}
policy "default" {
  default = true
  step "implement" {
    capabilities = ["implement"]
  }
}
`, 0o644)
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+bin, "GIT_CONFIG_NOSYSTEM=1")
	call := func(program string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", filepath.Base(program), args, err, out)
		}
	}
	call(git, "init", "-q", "-b", "main")
	call(git, "config", "user.name", "A")
	call(git, "config", "user.email", "a@example.com")
	call(ralph, "compile", "plan.md")
	call(git, "add", "-A")
	call(git, "commit", "-qm", "plan")
	if err := os.RemoveAll(log); err != nil {
		t.Fatal(err)
	}
	call(ralph, "apply")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

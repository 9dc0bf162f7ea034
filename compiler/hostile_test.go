package compiler_test

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/compiler"
)

// A hostile input is made of a small seed up to hostileBytes: what a stranger's pull
// request may hold. See TestHostileInputsAreBounded.
type hostile struct {
	plan   func() string
	policy func() string
	files  func() map[string]string
}

const hostileBytes = 1 << 20

// fill repeats what one(i) gives, from 0, up to n bytes.
func fill(n int, one func(i int) string) string {
	var b strings.Builder
	for i := 0; ; i++ {
		s := one(i)
		if b.Len()+len(s) > n {
			return b.String()
		}
		b.WriteString(s)
	}
}

// sprint is a plan of one sprint that has the text below its heading.
func sprint(text string) string {
	return "# Plan\n\n## Phase 1: One\n\n### Sprint 1.1: First\n\n" + text + "\n"
}

const hostileRoom = hostileBytes - 4096

func filled(one func(i int) string) func() string {
	return func() string { return fill(hostileRoom, one) }
}

func inSprint(one func(i int) string) func() string {
	return func() string { return sprint(fill(hostileRoom, one)) }
}

// sprints is a plan of as many sprints as there is room for, each with the text.
func sprints(text func(i int) string) func() string {
	return func() string {
		return "# Plan\n\n## Phase 1: One\n\n" + fill(hostileRoom, func(i int) string {
			return fmt.Sprintf("### Sprint 1.%d: S\n%s\n", i+1, text(i))
		})
	}
}

func some(n int, text string) func() string {
	return func() string {
		return "# Plan\n\n## Phase 1: One\n\n" + fill(hostileRoom, func(i int) string {
			if i >= n {
				return strings.Repeat(" ", hostileBytes)
			}
			return fmt.Sprintf("### Sprint 1.%d: S\n%s\n", i+1, text)
		})
	}
}

func is(s string) func() string { return func() string { return s } }

func long(before, part, after string) func() string {
	return func() string { return before + strings.Repeat(part, hostileRoom/len(part)) + after }
}

func verbatim(s string) func(int) string { return func(int) string { return s } }

func numbered(format string) func(int) string {
	n := strings.Count(format, "%d")
	return func(i int) string {
		args := make([]any, n)
		for k := range args {
			args[k] = i + 1
		}
		return fmt.Sprintf(format, args...)
	}
}

// TestHostileInputsAreBounded holds what 1 MiB of a hostile plan or policy costs, as
// counts: bytes that are allocated and diagnostics that are given. With RALPH_ATTACKS=all it
// compiles every generator, else a part of them. See docs/limits.md.
func TestHostileInputsAreBounded(t *testing.T) {
	if testing.Short() { // as `make race`: its pools keep nothing, so that more is allocated
		t.Skip("counts what is allocated")
	}
	const maxAlloc, maxDiags = 2 << 30, 1000
	all := os.Getenv("RALPH_ATTACKS") == "all"
	for kind, m := range map[string]map[string]hostile{"plan": hostilePlans, "order": hostileOrders, "policy": hostilePolicies} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !all && !worst[name] {
				continue
			}
			h := m[name]
			t.Run(kind+" "+name, func(t *testing.T) {
				in := compiler.Input{Project: fstest.MapFS{}}
				plan := sprint("x")
				if h.plan != nil {
					plan = h.plan()
				}
				in.Plans = []compiler.Source{{Path: "plan.md", Bytes: []byte(plan)}}
				files := fstest.MapFS{}
				if h.policy != nil {
					files["ralph.hcl"] = &fstest.MapFile{Data: []byte(h.policy())}
				}
				if h.files != nil {
					for f, text := range h.files() {
						files[f] = &fstest.MapFile{Data: []byte(text)}
					}
				}
				in.Project = files
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				out := compiler.Compile(in)
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > maxAlloc {
					t.Errorf("allocates %d MiB, at most %d", got>>20, maxAlloc>>20)
				}
				if got := len(out.Diags); got > maxDiags {
					t.Errorf("gives %d diagnostics, at most %d", got, maxDiags)
				}
			})
		}
	}
}

// worst are the inputs that cost most before there were limits, of each kind one.
var worst = map[string]bool{
	"empty headings": true, "checklists": true, "codes": true, "reverse labels": true, "wide phases": true,
	"agents of one sprint": true, "verify fences": true, "a phase goal in every prompt": true,
	"a plan's labels in every node": true, "a dialect of many words": true, "a phase's fence over many sprints": true,
	"lanes": true, "a heredoc": true, "invalid letters": true, "known gates of many nodes": true,
	"locals that are distinct": true, "locals that nest and are written": true, "locals that nest and are compared": true,
	"sections": true, "a node that all go through": true, "lines of open ranges": true,
	"dialects with large patterns": true, "a dialect with many keywords": true,
}

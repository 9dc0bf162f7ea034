package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/runner/command"
	"github.com/ralph-compiler/ralph/ir"
)

// manyAgents is how many are in flight together in BenchmarkAgents.
const manyAgents = 1000

// counted tells when all agents are in flight.
type counted struct {
	executor.Runner
	now *atomic.Int64
	all chan<- struct{}
}

func (c *counted) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	if c.now.Add(1) == manyAgents {
		close(c.all)
	}
	return c.Runner.Run(ctx, r)
}

// status returns a figure of this process in bytes, as /proc/self/status has it; 0 where
// there is none.
func status(tb testing.TB, name string) int64 {
	tb.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), name+":")
	f := strings.Fields(rest)
	if len(f) == 0 {
		tb.Fatalf("/proc/self/status has no %s", name)
	}
	n, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return n << 10
}

// TestHelperRunsManyAgents is no test: it is the process that is measured, the time in
// RALPH_BENCH_AGENTS after the last agent has begun.
func TestHelperRunsManyAgents(t *testing.T) {
	after, err := time.ParseDuration(os.Getenv("RALPH_BENCH_AGENTS"))
	if err != nil {
		t.Skip("only as a child")
	}
	lines := make([]string, manyAgents)
	for i := range lines {
		lines[i] = fmt.Sprintf("1.%d", i+1)
	}
	w := newWorkshop(t, executortest.Epic(lines, func(e *ir.Epic) {
		e.Run.Concurrency.Nodes = manyAgents
		r := e.Runners["sh"]
		r.Run = []string{"sleep", "1000"}
		e.Runners["sh"] = r
	}))
	all, stop := make(chan struct{}), make(chan os.Signal, 2)
	measured := make(chan struct{})
	go func() {
		defer close(measured)
		<-all
		<-time.After(after)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		fmt.Printf("\nresident %d peak %d stack %d\n", status(t, "VmRSS"), status(t, "VmHWM"), m.StackInuse)
		stop <- os.Interrupt
		stop <- os.Interrupt
	}()
	w.apply(t, func(c *local.Config) {
		c.Workspace = here{c.Workspace, t.TempDir()}
		c.Interrupts = stop
		c.Runners = map[string]executor.Runner{"command": &counted{&command.Runner{}, new(atomic.Int64), all}}
	})
	<-measured
}

// here is a workspace whose worktrees are there.
type here struct {
	executor.Workspace
	dir string
}

func (h here) Dir(ir.NodeID) string { return h.dir }

// agents starts the helper, and returns its figures in bytes.
func agents(tb testing.TB, after time.Duration) (resident, peak, stack int64) {
	tb.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperRunsManyAgents$")
	cmd.Env = append(os.Environ(), "RALPH_BENCH_AGENTS="+after.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	_, rest, _ := strings.Cut(string(out), "\nresident ")
	if _, err := fmt.Sscanf(rest, "%d peak %d stack %d", &resident, &peak, &stack); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return resident, peak, stack
}

// BenchmarkAgents: 1,000 agents in flight, each an idle child, and ralph needs at
// most 64 MB.
func BenchmarkAgents(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		fmt.Fprintf(os.Stderr, "\n*** %s: no /proc/self/status here ***\n\n", b.Name())
		b.Skip()
	}
	var resident, peak int64
	for b.Loop() {
		r, p, _ := agents(b, 12*time.Second) // all have begun, and are idle
		resident, peak = max(resident, r), max(peak, p)
	}
	b.ReportMetric(float64(resident)/(1<<20), "resident-MB")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
}

// countAgents: a stack is of 8, 16 or 32 kB. Rounded down, for the process has others.
func countAgents(t *testing.T, now map[string]float64) {
	_, _, stack := agents(t, 3*time.Second)
	now["an agent in flight: kB of its stack"] = 8 * math.Floor(float64(stack)/manyAgents/(8<<10))
}

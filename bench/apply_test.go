package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// The graph of these benchmarks: rows of width nodes, each needs two of the row
// before it.
const width = 50

func needs(i int) []int {
	row, at := i/width, i%width
	if row == 0 {
		return nil
	}
	return []int{(row-1)*width + at, (row-1)*width + (at+1)%width}
}

// slots is how many nodes (of ninja: jobs) run at the same time.
const slots = 100

func noOps(n int) *ir.Epic {
	lines := make([]string, n)
	for i := range lines {
		var b strings.Builder
		fmt.Fprintf(&b, "%d.%d:", i/width+1, i%width+1)
		for _, d := range needs(i) {
			fmt.Fprintf(&b, " %d.%d", d/width+1, d%width+1)
		}
		lines[i] = b.String()
	}
	return executortest.Epic(lines, func(e *ir.Epic) { e.Run.Concurrency.Nodes = slots })
}

// workshop is everything that an apply of the fakes needs. The journal is real
// and on the disk; the directories of attempts' files, which only a real agent
// fills, are in memory where that can be had: what they cost on the disk is
// reported apart.
type workshop struct {
	epic         *ir.Epic
	state, files string
	events       *int // that were written
}

func newWorkshop(tb testing.TB, epic *ir.Epic) workshop {
	tb.Helper()
	w := workshop{epic, tb.TempDir(), "", new(int)}
	dir, err := os.MkdirTemp("/dev/shm", "ralph-bench-")
	if err != nil {
		fmt.Fprintf(os.Stderr, "\n*** %s: no /dev/shm, so attempts' directories on the disk are part of the figures ***\n\n", tb.Name())
		w.files = w.state
		return w
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	w.files = dir
	return w
}

// apply opens the journal, replays it and runs what is left. It returns how long
// it took until the first node of this run started.
func (w workshop) apply(tb testing.TB, change func(*local.Config)) (first time.Duration) {
	tb.Helper()
	began := time.Now()
	log, err := journal.Open(w.state, w.epic.Epic.ID)
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	run, err := machine.New(w.epic)
	if err != nil {
		tb.Fatal(err)
	}
	for e, err := range log.Events(context.Background()) {
		if err != nil {
			tb.Fatal(err)
		}
		if err := run.Apply(e); err != nil {
			tb.Fatal(err)
		}
	}
	c := local.Config{
		Tools: effects.Tools{
			Epic: w.epic, Workspace: executortest.NewWorkspace(w.epic.Epic.ID), State: w.files,
			Runners: map[string]executor.Runner{"command": executortest.Runner{}}, Gates: map[string]executor.Gate{"command": executortest.Gate{}},
		},
		Run: run, Journal: log, Inbox: log,
		Observe: func(list []executor.Event) {
			*w.events += len(list)
			for _, e := range list {
				if _, ok := e.Body.(executor.NodeStarted); ok && first == 0 {
					first = time.Since(began)
				}
			}
		},
	}
	if change != nil {
		change(&c)
	}
	start := executortest.Start(w.epic)
	start.Slots = max(w.epic.Run.Concurrency.Nodes, 1)
	if _, err := local.Apply(context.Background(), c, start); err != nil && change == nil {
		tb.Fatal(err)
	}
	return first
}

// used is the processor time of this process so far.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// ninjaFile writes the same graph for ninja, with a command that does nothing.
func ninjaFile(tb testing.TB, n int) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	var b strings.Builder
	b.WriteString("rule none\n  command = : > $out\n")
	for i := range n {
		fmt.Fprintf(&b, "build n%d: none", i)
		for _, d := range needs(i) {
			fmt.Fprintf(&b, " n%d", d)
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(filepath.Join(dir, "build.ninja"), []byte(b.String()), 0o644); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// ninja runs ninja and returns its own processor time, without its children's,
// and theirs.
func ninja(tb testing.TB, dir string) (own, children, wall time.Duration) {
	tb.Helper()
	cmd := exec.Command("ninja", "-j", fmt.Sprint(slots), "--quiet")
	cmd.Dir = dir
	began := time.Now()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	// Its figures can be read apart while it is a zombie.
	waitDead(tb, cmd.Process.Pid)
	wall = time.Since(began)
	own, children = ticks(tb, cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
	return own, children, wall
}

// haveNinja says aloud when the peer is missing: then there is no ratio.
func haveNinja(tb testing.TB) bool {
	tb.Helper()
	_, err := exec.LookPath("ninja")
	if err != nil || runtime.GOOS != "linux" {
		fmt.Fprintf(os.Stderr, "\n*** NO RATIO TO NINJA: %s needs ninja on PATH (Debian: ninja-build) and Linux ***\n\n", tb.Name())
		return false
	}
	return true
}

// BenchmarkApply: ralph's own CPU per node is at most 2 × ninja's at 10,000
// nodes, and at most 1.2 × its own at 1,000.
func BenchmarkApply(b *testing.B) {
	peer := haveNinja(b)
	nodes := size(10_000)
	var one, disk, ten, own, children, wall time.Duration
	var was, is runtime.MemStats
	var mallocs uint64
	events := 0
	for b.Loop() {
		on := newWorkshop(b, noOps(nodes/10))
		on.files = on.state
		before := used()
		on.apply(b, nil)
		disk += used() - before
		for range 10 {
			w := newWorkshop(b, noOps(nodes/10))
			before = used()
			w.apply(b, nil)
			one += used() - before
		}
		w := newWorkshop(b, noOps(nodes))
		runtime.ReadMemStats(&was)
		began := time.Now()
		before = used()
		w.apply(b, nil)
		ten += used() - before
		runtime.ReadMemStats(&is)
		mallocs += is.Mallocs - was.Mallocs
		events += *w.events
		wall += time.Since(began)
		if peer {
			o, c, _ := ninja(b, ninjaFile(b, nodes))
			own += o
			children += c
		}
	}
	n := float64(b.N) * float64(nodes)
	b.ReportMetric(float64(ten.Microseconds())/n, "cpu-µs/node")
	b.ReportMetric(float64(wall.Microseconds())/n, "wall-µs/node")
	b.ReportMetric(float64(mallocs)/n, "allocs/node")
	b.ReportMetric(float64(events)/n, "events/node")
	b.ReportMetric(float64(ten)/float64(one), "10000/1000")
	b.ReportMetric(float64((disk-one/10).Microseconds())/n*10, "files-µs/node")
	if peer {
		b.ReportMetric(float64(own.Microseconds())/n, "ninja-µs/node")
		b.ReportMetric(float64(children.Microseconds())/n, "a-process-µs")
		b.ReportMetric(float64(ten)/float64(own), "cpu/ninja")
	}
}

// BenchmarkApplyFinished: at most 1 s with nothing to do at 10,000 nodes.
func BenchmarkApplyFinished(b *testing.B) {
	peer := haveNinja(b)
	w := newWorkshop(b, noOps(size(10_000)))
	w.apply(b, nil)
	dir := ""
	if peer {
		dir = ninjaFile(b, size(10_000))
		ninja(b, dir)
	}
	var ours, theirs time.Duration
	for b.Loop() {
		began := time.Now()
		w.apply(b, nil)
		ours += time.Since(began)
		if peer {
			_, _, wall := ninja(b, dir)
			theirs += wall
		}
	}
	b.ReportMetric(float64(ours.Microseconds())/1000/float64(b.N), "wall-ms")
	if peer {
		b.ReportMetric(float64(theirs.Microseconds())/1000/float64(b.N), "ninja-wall-ms")
		b.ReportMetric(float64(ours)/float64(theirs), "wall/ninja")
	}
}

// BenchmarkResume: after the end of ralph at event 60,000 the next run's first
// node starts within 1 s.
func BenchmarkResume(b *testing.B) {
	epic, last := noOps(size(10_000)), int64(size(60_000))
	var first time.Duration
	for b.Loop() {
		b.StopTimer()
		w := newWorkshop(b, epic)
		// The run ends as by kill -9: nothing is written from event 60,000 on.
		w.apply(b, func(c *local.Config) { c.Journal = &cut{Journal: c.Journal, at: last} })
		b.StartTimer()
		first += w.apply(b, func(c *local.Config) {
			stop := make(chan os.Signal, 2)
			stop <- os.Interrupt
			stop <- os.Interrupt
			observe := c.Observe
			c.Observe = func(list []executor.Event) {
				observe(list)
				if first := list[len(list)-1]; first.Seq > last+200 {
					c.Interrupts = stop
				}
			}
			c.Journal = &cut{Journal: c.Journal, at: last + 1000}
		})
	}
	b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "first-node-ms")
}

// cut is a journal that fails at an event.
type cut struct {
	executor.Journal
	at int64
}

func (c *cut) Append(ctx context.Context, events []executor.Event) error {
	if events[len(events)-1].Seq >= c.at {
		return executortest.ErrCrash
	}
	return c.Journal.Append(ctx, events)
}

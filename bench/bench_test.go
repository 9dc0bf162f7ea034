package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// programs builds ralph and the programs that it is measured against, and beside them
// the one that measures.
func programs(b testing.TB) (ralph, floor, imports, empty string) {
	b.Helper()
	dir := b.TempDir()
	build := func(name, pkg string) string {
		out := filepath.Join(dir, name)
		if text, err := exec.Command("go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", pkg, err, text)
		}
		return out
	}
	build("measure", "./measure")
	return build("ralph", "../cmd/ralph"), build("floor", "./floor"), build("imports", "./imports"), build("empty", "./empty")
}

// size is the number of nodes of a benchmark: with -short a tenth, because then nobody
// reads the times.
func size(n int) int {
	if testing.Short() {
		return max(n/10, 10)
	}
	return n
}

// cost is what one process used.
type cost struct {
	cpu, wall time.Duration
	peak      int64 // resident memory, in bytes
}

func (c *cost) add(o cost) {
	c.cpu += o.cpu
	c.wall += o.wall
	c.peak = max(c.peak, o.peak)
}

// run runs a program that programs built.
func run(b testing.TB, dir, program string, args ...string) cost {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(filepath.Join(filepath.Dir(program), "measure"), append([]string{program}, args...)...)
	cmd.Dir = dir
	cmd.ExtraFiles = []*os.File{w}
	out, err := cmd.CombinedOutput()
	_ = w.Close()
	if err != nil {
		b.Fatalf("%s %v: %v\n%.2000s", filepath.Base(program), args, err, out)
	}
	var user, system, wall, peak int64
	if _, err := fmt.Fscan(r, &user, &system, &wall, &peak); err != nil {
		b.Fatal(err)
	}
	return cost{cpu: time.Duration(user + system), wall: time.Duration(wall), peak: peak}
}

func report(b *testing.B, name string, c cost) {
	b.ReportMetric(float64(c.cpu.Microseconds())/1000/float64(b.N), name+"-cpu-ms")
	b.ReportMetric(float64(c.peak)/(1<<20), name+"-peak-MB")
}

func setup(b testing.TB, sprints int) (dir string) {
	b.Helper()
	dir = b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), Plan(sprints), 0o644); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkCompile: CPU at most 2 × the floor, peak memory at most 1.5 × the
// floor at 10,000 sprints, also when another epic.json is replaced (other-); 100,000 sprints at most 12 × the time of 10,000; a
// 10-sprint plan at most 30 ms as a whole process.
func BenchmarkCompile(b *testing.B) {
	ralph, floor, _, empty := programs(b)
	for _, n := range []int{10, size(10_000), 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if n == 100_000 && testing.Short() {
				b.Skip("100,000 sprints take a while")
			}
			dir := setup(b, n)
			var r, f, e, o cost
			for b.Loop() {
				f.add(run(b, dir, floor, "plan.md", "floor.json"))
				r.add(run(b, dir, ralph, "compile", "plan.md", "--no-annotate", "--format", "json"))
				o.add(run(b, dir, ralph, "compile", "plan.md", "--no-annotate", "--format", "json", "--complexity", "simple"))
				if err := os.Remove(filepath.Join(dir, "epic.json")); err != nil {
					b.Fatal(err)
				}
				e.add(run(b, dir, empty))
			}
			report(b, "ralph", r)
			report(b, "floor", f)
			b.ReportMetric(float64(r.wall.Microseconds())/1000/float64(b.N), "ralph-wall-ms")
			b.ReportMetric(float64(e.wall.Microseconds())/1000/float64(b.N), "empty-wall-ms")
			b.ReportMetric(float64(r.cpu)/float64(f.cpu), "cpu/floor")
			b.ReportMetric(float64(r.peak)/float64(f.peak), "peak/floor")
			b.ReportMetric(float64(o.peak)/float64(f.peak), "other-peak/floor")
		})
	}
}

// BenchmarkGraphAndDiff: each at most a compile of the same plan.
func BenchmarkGraphAndDiff(b *testing.B) {
	ralph, _, _, _ := programs(b)
	dir := setup(b, size(10_000))
	run(b, dir, ralph, "compile", "plan.md", "-o", "old.json", "--no-annotate", "--format", "json")
	run(b, dir, ralph, "compile", "plan.md", "-o", "new.json", "--no-annotate", "--format", "json", "--complexity", "simple")
	var c, g, d cost
	for b.Loop() {
		c.add(run(b, dir, ralph, "compile", "plan.md", "--no-annotate", "--format", "json"))
		g.add(run(b, dir, ralph, "graph", "epic.json"))
		d.add(run(b, dir, ralph, "diff", "old.json", "new.json"))
	}
	report(b, "compile", c)
	report(b, "graph", g)
	report(b, "diff", d)
	b.ReportMetric(float64(g.cpu)/float64(c.cpu), "graph/compile")
	b.ReportMetric(float64(d.cpu)/float64(c.cpu), "diff/compile")
}

// BenchmarkVersion: at most 1.2 × a program that imports the same modules.
func BenchmarkVersion(b *testing.B) {
	ralph, _, imports, empty := programs(b)
	dir := b.TempDir()
	var r, i, e cost
	for b.Loop() {
		for range 20 {
			r.add(run(b, dir, ralph, "--version"))
			i.add(run(b, dir, imports))
			e.add(run(b, dir, empty))
		}
	}
	b.ReportMetric(float64(r.wall.Microseconds())/1000/20/float64(b.N), "ralph-wall-ms")
	b.ReportMetric(float64(r.cpu)/float64(i.cpu), "cpu/imports")
	b.ReportMetric(float64(r.cpu)/float64(e.cpu), "cpu/empty")
	b.ReportMetric(float64(r.wall)/float64(i.wall), "wall/imports")
}

package sandbox_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// BenchmarkSandbox runs /bin/true in a sandbox, and beside it without one: more-ms is what
// the sandbox costs a program.
func BenchmarkSandbox(b *testing.B) {
	once := func(w process.Wall) time.Duration {
		begun := time.Now()
		_, err := process.Run(context.Background(), process.Spec{Argv: []string{"/bin/true"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "HOME=" + os.Getenv("HOME")}, Wall: w})
		if err != nil {
			b.Skipf("SKIPPED: %v", err)
		}
		return time.Since(begun)
	}
	s := sandbox.New(wall.Spec{Name: "bench", Kind: wall.Namespaces})
	once(s)
	var in, out time.Duration
	for b.Loop() {
		in += once(s)
		out += once(nil)
	}
	n := float64(b.N)
	b.ReportMetric(float64(in-out)/n/1e6, "more-ms")
	b.ReportMetric(float64(in)/float64(out), "in/out")
}

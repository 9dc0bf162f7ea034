package command

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// BenchmarkGigabyteOfOutput is an agent that prints a gibibyte: 200 MB/s or more,
// and 64 MiB resident or less, of which the benchmark fails without.
func BenchmarkGigabyteOfOutput(b *testing.B) {
	const size = 1 << 30
	b.SetBytes(size)
	for b.Loop() {
		step := executortest.Step("implement")
		var seen atomic.Int64
		got, err := quick.Run(b.Context(), executor.AgentRun{
			Node: &ir.Node{ID: "bd-1-1", Key: "1.1"}, Step: &step, Runner: script(fmt.Sprintf("yes 'a line of output, as agents print it' | head -c %d", size)),
			Effect: executor.Effect{Step: "implement", Attempt: 1}, Dir: b.TempDir(), Files: b.TempDir(),
			Activity: func(a executor.Activity) { seen.Store(a.Bytes) },
		})
		if err != nil || got.Outcome.Result != "success" || seen.Load() != size {
			b.Fatalf("got %+v, %v, %d bytes", got, err, seen.Load())
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Log("no /proc: what was resident is not known")
		return
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			b.ReportMetric(kb/1024, "MiB-resident")
			if kb > 64*1024 {
				b.Errorf("%.0f MiB were resident", kb/1024)
			}
		}
	}
}

package cli

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
)

func TestTheCollectorCountsALargeTextOnce(t *testing.T) {
	t.Setenv("GOGC", "")
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	for _, c := range []struct{ size, want int }{{1 << 20, 100}, {500 << 20, 25}} {
		project.BesideText(c.size)
		if got := debug.SetGCPercent(100); got != c.want {
			t.Errorf("beside %d MiB the collector lets %d%% grow", c.size>>20, got)
		}
	}
	t.Setenv("GOGC", "80")
	project.BesideText(500 << 20)
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC in the environment does not win: %d", got)
	}
}

// TestTheFirstCollectionComesLate: once, and then memory grows as ever.
func TestTheFirstCollectionComesLate(t *testing.T) {
	if os.Getenv(collects) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheFirstCollectionComesLate$")
		cmd.Env = append(os.Environ(), collects+"=1", "GOGC=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	now := func() int { // read, not set and set back: the cleanup sets it on a goroutine of its own
		percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(percent)
		return int(percent[0].Value.Uint64())
	}
	for range 2 { // commands may call each other
		project.CollectLate()
	}
	project.ShortLived()
	if got := now(); got != 400 {
		t.Errorf("before the first collection %d%% grow, want 400", got)
	}
	runtime.GC()
	for end := time.Now().Add(time.Minute); now() != 200; <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after it %d%% grow, want 200", now())
		}
	}
	project.BesideText(500 << 20)
	if got := now(); got != 25 {
		t.Errorf("beside a large text %d%% grow, want 25", got)
	}
}

// collects says that a process is there for its collector.
const collects = "RALPH_TEST_COLLECTOR"

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
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

// TestALargeCompileEndsWithACollector: for the texts it is stopped, where the process ends soon.
func TestALargeCompileEndsWithACollector(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	prose := strings.Repeat("Words that the sprint is about. ", 40) + "\n"
	var plan strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&plan, "### Sprint 1.%d: A\n\n%s\n", i+1, prose)
	}
	for what, c := range map[string]struct {
		brief      bool
		gogc, more string
		want       int
	}{
		"a command that ends soon":      {true, "", "", 400},
		"one with an error":             {true, "", "### Sprint 2.1: B\n**Depends on**: 9.9\n", 400},
		"a process that goes on":        {false, "", "", 100},
		"one whose user chose for them": {true, "100", "", 100},
	} {
		debug.SetGCPercent(100)
		t.Setenv("GOGC", c.gogc)
		file := filepath.Join(t.TempDir(), "plan.md")
		if err := os.WriteFile(file, []byte(plan.String()+c.more), 0o600); err != nil {
			t.Fatal(err)
		}
		a := project.Args{Plans: []string{file}, Format: project.FormatText, Brief: c.brief}
		out, err := a.Compile(strings.NewReader(""))
		if err != nil || out.Diags.HasErrors() != (c.more != "") {
			t.Fatalf("%s: %v %v", what, err, out.Diags)
		}
		out.Project.Close()
		if got := debug.SetGCPercent(100); got != c.want {
			t.Errorf("%s: afterwards %d%% grow, want %d", what, got, c.want)
		}
	}
}

package cli

import (
	"runtime/debug"
	"testing"

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

package project

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// growth is how far memory may grow, in percent, until the collector runs.
var growth struct {
	mu      sync.Mutex // guards the rest
	percent int
	late    bool // the first collection is still to come, at a larger size
}

// CollectLate puts the first collection off until 16 MiB are in use, not 4: most commands
// end before that, and none of them keeps so much for long. GOGC in the environment wins.
func CollectLate() {
	growth.mu.Lock()
	defer growth.mu.Unlock()
	if os.Getenv("GOGC") != "" || growth.percent != 0 {
		return
	}
	growth.percent, growth.late = 100, true
	debug.SetGCPercent(400)
	runtime.AddCleanup(&struct{ garbage [64]byte }{}, func(struct{}) { // the first collection finds it
		growth.mu.Lock()
		defer growth.mu.Unlock()
		if growth.late {
			growth.late = false
			debug.SetGCPercent(growth.percent)
		}
	}, struct{}{})
}

// never, given to collectAt, stops the collector.
const never = -1

// collectAt lets memory grow by so many percent until the collector runs; less than the
// usual 100 takes effect at once. GOGC in the environment wins.
func collectAt(percent int) {
	growth.mu.Lock()
	defer growth.mu.Unlock()
	if os.Getenv("GOGC") != "" {
		return
	}
	growth.percent, growth.late = percent, growth.late && percent >= 100
	if !growth.late {
		debug.SetGCPercent(percent)
	}
}

// ShortLived trades memory for time in commands that read, compute, write and
// end: the collector runs half as often.
func ShortLived() { collectAt(200) }

// BesideText lowers the collector's growth limit while the text of a large epic, of size
// bytes, is in memory: otherwise the remaining heap could grow by that much again.
// Collecting then is cheap, since texts are not scanned.
func BesideText(size int) {
	const large = 64 << 20
	if size >= large {
		collectAt(25)
	}
}

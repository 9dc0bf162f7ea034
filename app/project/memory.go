package project

import (
	"os"
	"runtime/debug"
)

// collectAt lets memory grow by so many percent until the collector runs. GOGC in the
// environment wins.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
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

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

// BesideText keeps the collector from letting the rest of the memory grow by as much
// as a large text has, in which an epic lies: a collection costs little, as it does not
// look into texts.
func BesideText(size int) {
	const large = 64 << 20
	if size >= large {
		collectAt(25)
	}
}

package opencode

import (
	"runtime"
	"strings"
	"testing"
)

// What a server prints is an agent's to decide: its plugins run in it.
func TestAServerThatPrintsNoAddressIsNotKept(t *testing.T) {
	found := make(chan string, 1)
	tap := await(found)
	noise := []byte(strings.Repeat("x", 64<<10))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 256 {
		tap(false, noise)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes are kept of what it printed", grown)
	}
	for _, piece := range []string{"\nopencode server list", "ening on http://127.0.0.1:1", "234\n"} {
		tap(false, []byte(piece))
	}
	if got := <-found; got != "http://127.0.0.1:1234" {
		t.Errorf("its address is %q", got)
	}
	runtime.KeepAlive(tap)
}

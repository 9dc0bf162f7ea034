package opencode

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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

// What is small as text is large in memory.
func TestAnAnswerOfVeryManyValuesIsNotRead(t *testing.T) {
	answer := "[" + strings.Repeat("{},", maxValues/2) + "{}]"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
	defer s.Close()
	a := api{url: s.URL, http: s.Client()}
	if got, err := a.messages(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("%d messages came, %v", len(got), err)
	}
	answer = `[{"parts":[{"text":"` + strings.Repeat(`{[,\",`, maxValues/2) + `"}]}]`
	if got, err := a.messages(t.Context(), "x"); err != nil || len(got) != 1 {
		t.Errorf("a long text: %d messages came, %v", len(got), err)
	}
}

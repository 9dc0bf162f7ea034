//go:build unix

package web

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// Another journal may end with the same number: who comes back says which one it has seen.
func TestWhoHasSeenAnotherJournalIsTold(t *testing.T) {
	t.Parallel()
	s := newSite(t, "echo x > work.txt\n", executortest.Epic([]string{"1.1"}))
	s.start()()
	s.serve()
	l := s.page.house.find(s.id)
	is := locked(l, func() place { return place{epoch: l.epoch, seq: l.rec.Run.Seq()} })
	other := place{epoch: is.epoch + 1, seq: is.seq}
	for path, id := range map[string]string{"/EPIC/events": other.String(), "/events": s.id + "=" + other.String()} {
		if e := s.stream(path, "Last-Event-ID", id)(); e.event != "reset" || !strings.HasSuffix(e.id, is.String()) {
			t.Errorf("%s: %+v", path, e)
		}
	}
	var out stream
	at := map[string]place{s.id: is}
	if l.news(&out, at, false, func(map[string]place) string { return "" }); len(out.buf) > 0 {
		t.Errorf("the same journal: %s", out.buf)
	}
	for _, p := range []place{is, {seq: 3}, {epoch: 1 << 60}} {
		if got, ok := placeOf(p.String()); !ok || got != p {
			t.Errorf("%+v became %+v", p, got)
		}
	}
	if got, ok := placeOf("17"); !ok || got != (place{seq: 17}) {
		t.Errorf("a number alone: %+v", got)
	}
}

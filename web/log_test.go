//go:build unix

package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestTheLogIsAskedForInPartsAndByKind(t *testing.T) {
	t.Parallel()
	s := newSite(t, `echo x > "out-$RALPH_NODE.txt"`, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	all := got[Log](s, "/EPIC/log")
	if len(all.Entries) < 12 || all.Before != 0 || !slices.IsSortedFunc(all.Entries, func(a, b Entry) int { return int(b.Seq - a.Seq) }) {
		t.Fatalf("%d events, %d", len(all.Entries), all.Before)
	}
	count := map[string]int{}
	for _, e := range all.Entries {
		count[e.Kind]++
	}
	if fmt.Sprint(count) != fmt.Sprint(all.Kinds) || count["node.done"] != 3 {
		t.Errorf("kinds: %v, want %v", all.Kinds, count)
	}
	want := func(query string, is func(Entry) bool) {
		t.Helper()
		var want []Entry
		for _, e := range all.Entries {
			if is(e) {
				want = append(want, e)
			}
		}
		if log := got[Log](s, "/EPIC/log?"+query); len(want) == 0 || !slices.Equal(log.Entries, want) || log.Before != 0 {
			t.Errorf("%s: %v, %d\nwant %v", query, log.Entries, log.Before, want)
		}
	}
	middle := all.Entries[len(all.Entries)/2].Seq
	want("kind=node.done", func(e Entry) bool { return e.Kind == "node.done" })
	want("kind=node.done,run.ended&key=", func(e Entry) bool { return e.Kind == "node.done" || e.Kind == "run.ended" })
	want("key=1.2&kind=attempt.started", func(e Entry) bool { return e.Kind == "attempt.started" && e.Key == "1.2" })
	want(fmt.Sprintf("after=%d", middle), func(e Entry) bool { return e.Seq > middle })
	want(fmt.Sprintf("after=%d&before=%d", middle-3, middle+3), func(e Entry) bool { return e.Seq > middle-3 && e.Seq < middle+3 })
	want(fmt.Sprintf("after=%d&key=1.2&limit=200", middle), func(e Entry) bool { return e.Seq > middle && e.Key == "1.2" })
	if log := got[Log](s, fmt.Sprintf("/EPIC/log?after=%d&limit=2", all.Entries[2].Seq)); len(log.Entries) != 2 || log.Before != 0 {
		t.Errorf("just two are behind it: %v, %d", log.Entries, log.Before)
	}
	if log := got[Log](s, fmt.Sprintf("/EPIC/log?after=%d&limit=2", all.Entries[3].Seq)); len(log.Entries) != 2 || log.Before != log.Entries[1].Seq {
		t.Errorf("one more is behind it: %v, %d", log.Entries, log.Before)
	}
	if log := got[Log](s, fmt.Sprintf("/EPIC/log?after=%d", all.Entries[0].Seq)); len(log.Entries) != 0 || len(log.Kinds) == 0 {
		t.Errorf("nothing is behind the last: %v, %v", log.Entries, log.Kinds)
	}
}

func TestALogThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, "true\n", executortest.Epic([]string{"1.1"}))
	for query, says := range map[string]string{
		"kind=gate":                  `there is no kind of event \"gate\"`,
		"kind=node.done,":            `there is no kind of event \"\"`,
		"after=-1":                   `after is a number from 0, not \"-1\"`,
		"after=last":                 `after is a number from 0, not \"last\"`,
		"before=1e3":                 `before is a number from 0, not \"1e3\"`,
		"limit=0":                    `limit is a number from 1 to 200, not \"0\"`,
		"limit=201":                  `limit is a number from 1 to 200, not \"201\"`,
		"limit=many&before=x":        `before is a number from 0`,
		"after=99999999999999999999": `after is a number from 0`,
	} {
		if status, text, _ := s.text("/EPIC/log?" + query); status != http.StatusBadRequest || !strings.Contains(text, says) || !strings.Contains(text, `"invalid"`) {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

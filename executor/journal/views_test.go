package journal

import (
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func nodeID(s string) ir.NodeID { return ir.NodeID(s) }

func TestOtherReadersAskTheViews(t *testing.T) { // S4-124
	dir := t.TempDir()
	l := reopened(t, dir)
	var list []executor.Event
	add := func(node string, attempt int, b executor.Body) {
		list = append(list, executor.Event{Seq: int64(len(list) + 1), Node: nodeID(node), Step: "s", Attempt: attempt, Body: b})
	}
	add("", 0, executor.RunStarted{Digest: "d", By: "ann"})
	add("bd-1", 0, executor.NodeStarted{Key: "1.1"})
	add("bd-1", 1, executor.AttemptStarted{})
	add("bd-1", 1, executor.GateJudged{Gate: "unit", Verdict: executor.Fail, Message: "no"})
	add("bd-1", 1, executor.AttemptEnded{Status: executor.AttemptFailed, Reason: "gate unit failed"})
	add("bd-1", 2, executor.AttemptStarted{})
	add("bd-2", 0, executor.NodeDone{Result: executor.Tree{Commit: "abc"}})
	add("bd-1", 0, executor.Decided{Decision: executor.Decision{ID: "x", Verb: executor.Skip, By: "bob"}})
	add("", 0, executor.RunEnded{Counts: map[string]int{"done": 1}})
	if err := l.Append(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT node, status, coalesce(result, '') FROM nodes ORDER BY node":                                     "bd-1 running |bd-2 done abc|",
		"SELECT node, step, attempt, status, coalesce(reason, '') FROM attempts ORDER BY seq":                    "bd-1 s 1 failed gate unit failed|bd-1 s 2 running |",
		"SELECT node, gate, verdict, message FROM gates":                                                         "bd-1 unit fail no|",
		"SELECT node, verb, by FROM decisions":                                                                   "bd-1 skip bob|",
		"SELECT seq, digest, by, interrupted, counts ->> 'done', ended IS NOT NULL FROM runs":                    "1 d ann 0 1 1|",
		"SELECT count(*), max(seq) FROM log WHERE kind = 'attempt.started' AND at <= strftime('%Y', 'now')||'x'": "2 6|",
	} {
		var b strings.Builder
		err := sqlitex.ExecuteTransient(l.conn, query, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
			for i := range s.ColumnCount() {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(s.ColumnText(i))
			}
			b.WriteByte('|')
			return nil
		}})
		if err != nil || b.String() != want {
			t.Errorf("%s\ngives %q, %v; want %q", query, b.String(), err, want)
		}
	}
}

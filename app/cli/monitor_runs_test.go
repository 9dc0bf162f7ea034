//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// Two repositories: in one an agent is at work and silent for longer than its step
// allows, in the other a sprint waits for ann. The monitor shows both with what to
// type, and changes nothing. S4-61, S4-63, L0-08
func TestTheMonitorShowsRunsOfSeveralRepositories(t *testing.T) {
	t.Parallel()
	busy := newSite(t, `while [ ! -e "$TOP/log/go" ]; do sleep 0.1; done; echo x > "out-$RALPH_NODE.txt"`, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Stall = ir.Stall{AfterMS: 600_000, Action: "fail"}
		}
	}))
	asks := newSite(t, "", executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Gates["ann"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "ann")
	}))
	asks.apply(exit.Waiting)
	run := busy.start("apply")
	busy.until("the agent is at work", func() bool { return strings.Contains(busy.read("../log/points"), "agent.1.1.implement-1.begin") })

	look := func(args ...string) string {
		return busy.ralph(append([]string{"monitor"}, args...)...).out
	}
	if got := look("."); !strings.Contains(got, "1.1  runs implement #1: agent, for ") {
		t.Errorf("what runs:\n%s", got)
	}
	// Its files say that it has been silent for an hour.
	hour := time.Now().Add(-time.Hour)
	files, err := filepath.Glob(filepath.Join(busy.state(), "attempts", "*", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the attempt: %v", err)
	}
	for _, f := range files {
		if err := os.Chtimes(f, hour, hour); err != nil {
			t.Fatal(err)
		}
	}
	before := asks.manifest()
	got := look(".", asks.dir, filepath.Join(asks.dir, "tests"))
	for _, want := range []string{
		busy.dir + "\n", asks.dir + "\n", "at work: process ", "0 of 2 sprints done, 1 running, 1 pending",
		"1.1  waiting: approval (gate ann, ann decides)", "ralph approve 1.1 --as ann", `ralph reject 1.1 --as ann -m "what to change"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the monitor lacks %q:\n%s", want, got)
		}
	}
	if !regexp.MustCompile(`1\.1  STALLS implement #1: agent, for .* last sign of life 1h00m ago \(its limit is 10m00s\)`).MatchString(got) {
		t.Errorf("what runs:\n%s", got)
	}
	if strings.Count(got, asks.dir+"\n") != 1 {
		t.Errorf("one repository twice:\n%s", got)
	}
	shown := strings.ReplaceAll(look(".", asks.dir), busy.dir, "/home/ann/src/api")
	docShows(t, "../../docs/beads.md", "console monitor", "$ ralph monitor ~/src/api ~/src/shop\n"+strings.ReplaceAll(shown, asks.dir, "/home/ann/src/shop"))
	var list record.MonitorJSON
	if err := json.Unmarshal([]byte(look(".", asks.dir, "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Repositories) != 2 || len(list.Repositories[0].Epics) != 1 || list.Repositories[0].Epics[0].Run.State != "at work" || len(list.Repositories[0].Epics[0].Stalled) != 1 ||
		len(list.Repositories[1].Epics[0].Nodes[0].Next) != 3 || list.Repositories[1].Epics[0].Nodes[0].Next[0].Command != "ralph show 1.1 --diff" || list.Repositories[1].Epics[0].Nodes[0].Next[1].Command != "ralph approve 1.1 --as ann" {
		t.Errorf("as JSON: %+v", list)
	}

	// As lines: each change is one, until Ctrl-C.
	watch, said := busy.watching("watch", "monitor", ".", "--watch")
	busy.until("the watch has begun", func() bool { return strings.Contains(said(), "1.1: running implement #1") })
	if err := os.WriteFile(busy.file("../log/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run.wait(); got.code != exit.Done {
		t.Errorf("apply: exit %d\n%s", got.code, got.all())
	}
	busy.until("the watch has seen the end", func() bool { return strings.Contains(said(), ": ended; ") })
	if err := watch.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := watch.wait(); got.code != exit.Done {
		t.Errorf("watch ended with %d\n%s", got.code, got.all())
	}
	after := asks.manifest()
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was changed by looking", name)
		}
	}
	if got := busy.start("monitor", busy.top).wait(); got.code != exit.Input || !strings.Contains(got.err, "is not in a git repository") {
		t.Errorf("no repository: exit %d, %s", got.code, got.all())
	}
}

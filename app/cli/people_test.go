//go:build unix

package cli

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// ralph runs a command other than apply and returns what it printed.
func (r *applyRepo) ralph(want int, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("ralph", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	if code != want {
		r.t.Fatalf("ralph %s: exit %d, want %d\n%s", strings.Join(args, " "), code, want, out)
	}
	return string(out)
}

// says runs a command that succeeds and looks for what it has to print.
func (r *applyRepo) says(args string, wants ...string) {
	r.t.Helper()
	out := r.ralph(exit.Done, strings.Fields(args)...)
	for _, want := range wants {
		if !strings.Contains(out, want) {
			r.t.Errorf("ralph %s lacks %q:\n%s", args, want, out)
		}
	}
}

// until waits until a node has a status, as another process sees it.
func (r *applyRepo) until(key, status string) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; {
		began := time.Now()
		var s record.StatusJSON
		if err := json.Unmarshal([]byte(r.ralph(exit.Done, "status", "--json")), &s); err != nil {
			r.t.Fatal(err)
		}
		for _, n := range s.Nodes {
			if string(n.Key) == key && n.Status == status {
				return
			}
		}
		if r.t.Context().Err() != nil || time.Now().After(end) {
			r.t.Fatalf("%s never became %s", key, status)
		}
		pause(began)
	}
}

// humanEpic has a human gate on 1.1 that 1.2 needs.
func humanEpic(change ...func(*ir.Epic)) *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2: 1.1"}, append([]func(*ir.Epic){func(e *ir.Epic) {
		e.Gates["look"] = ir.Gate{Kind: "human", OnFailure: "retry", Approvers: []string{"ada"}, From: "policy"}
		e.Nodes[0].Steps[0].Gates = []string{"check", "look"}
	}}, change...)...)
}

func TestAPersonDecidesWhileNothingRuns(t *testing.T) { // S1-16, S1-17, S1-18, L1-03, execution §5
	t.Parallel()
	r := newApplyRepo(t, humanEpic())
	a := r.run(exit.Waiting)
	for _, want := range []string{"1.1  ? waits for a person (approval)", "ralph approve 1.1 --as ada", "ralph reject 1.1 --as ada -m", "1.2  pending: needs 1.1 (waiting)"} {
		if !strings.Contains(a.out.String(), want) {
			t.Errorf("the account lacks %q:\n%s", want, &a.out)
		}
	}
	r.says("status", "waiting: approval", "ralph approve 1.1", "Not done:", "1.2  needs 1.1 (waiting)")
	r.says("show 1.1", "gate check: pass", "ralph approve 1.1")
	r.ralph(exit.Done, "pause", "1.1", "--as", "eve")
	r.says("status", "(gate look, ada decides); paused by eve")
	r.ralph(exit.Done, "resume", "1.1")
	r.ralph(exit.Usage, "reject", "1.1")
	r.ralph(exit.Input, "approve", "1.2")
	if out := r.ralph(exit.Input, "approve", "1.1", "--as", "eve"); !strings.Contains(out, "ada") {
		t.Errorf("it does not say who may: %s", out)
	}
	out := r.ralph(exit.Done, "reject", "1.1", "--as", "ada", "-m", "say it louder")
	if !strings.Contains(out, "1.1: rejected") || !strings.Contains(out, "to continue: ralph apply") {
		t.Errorf("reject said %s", out)
	}
	r.run(exit.Waiting)
	r.says("show 1.1", "say it louder", "implement #2")
	if got := r.git("show", "ralph/x/1-1:out-1.1.txt"); got == "" {
		t.Log("the branch does not move before the approval")
	}
	r.says("approve 1.1 --as ada", "1.1: approved, gate look", "as ada")
	r.run(exit.Done)
	r.says("log 1.1", "ada (user "+project.UserName()+"): approve (gate look)", "say it louder", "gate look: pass by ada")
	if got := r.git("show", "ralph/x/integration:out-1.1.txt"); got != "1.1\nfixed" {
		t.Errorf("the agent was not told what was rejected: %q", got)
	}
	r.says("status", "2 of 2 sprints done")
	r.says("runs", "waiting", "done")
	r.says("journal verify", "sound: ")
}

func TestAPersonDecidesWhileApplyRuns(t *testing.T) { // execution §5; S4-100
	t.Parallel()
	r := newApplyRepo(t, humanEpic())
	a := r.start("--wait")
	r.until("1.1", "waiting")
	r.says("status", "at work: process")
	if out := r.ralph(exit.Input, "approve", "1.2"); !strings.Contains(out, "1.2") {
		t.Errorf("a refusal said %s", out)
	}
	r.says("reject 1.1 --as ada -m louder", "1.1: rejected", "acts on it")
	for range time.Tick(20 * time.Millisecond) {
		if strings.Contains(r.ralph(exit.Done, "show", "1.1"), "implement #2: waiting: approval") {
			break
		}
	}
	r.until("1.1", "waiting")
	r.says("approve 1.1 --as ada", "1.1: approved", "acts on it")
	if code := a.wait(); code != exit.Done {
		t.Errorf("exit %d\n%s%s", code, &a.out, &a.err)
	}
}

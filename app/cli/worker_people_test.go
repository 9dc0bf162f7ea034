//go:build unix

package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
)

const askAda = `
gate "ada" {
  kind      = "human"
  approvers = ["ada"]
}
policy "p" {
  default = true
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.ada]
  }
}
`

// A human gate blocks the issue, with the label, the phase and what to type; the
// worker goes on by itself when that was typed. S4-14, S4-59, S4-95..97, S4-100
func TestAnIssueThatWaitsForAPersonGoesOnWhenDecided(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, askAda)
	d.put(`{"id":"bd-a"}`)
	if got := d.worker(exit.Waiting, "--once"); !strings.Contains(got.out, "bd-a  waiting for a person: approval (gate ada, ada decides)") {
		t.Errorf("it says\n%s", got.out)
	}
	i := d.bead("bd-a")
	slices.Sort(i.Labels)
	if i.Status != "blocked" || !slices.Equal(i.Labels, []string{"needs:human_approval", "phase:human_review"}) {
		t.Errorf("it is %s, %v", i.Status, i.Labels)
	}
	said := d.comments("bd-a")
	command := regexp.MustCompile("ralph approve bd-a --as ada --epic ([^ `]+)").FindStringSubmatch(said)
	if command == nil {
		t.Fatalf("the comment does not say what to type:\n%s", said)
	}
	if command[1] != "bd-a" || !strings.Contains(said, "Its work: commit ") {
		t.Errorf("the comment:\n%s", said)
	}
	d.bd.Forget()
	w := d.going()
	d.until("the worker looks what was decided", func() bool { return slices.Contains(d.bd.Commands(), "ready") })
	if got := d.ralph("approve", "bd-a", "--as", "ada", "--epic", command[1]); got.code != exit.Done {
		t.Fatalf("approve: %s", got.all())
	}
	d.stands("bd-a", "closed")
	d.stop(w, exit.Interrupted)
	if i := d.bead("bd-a"); slices.Contains(i.Labels, "needs:human_approval") || !slices.Equal(i.Labels, []string{"phase:implement"}) {
		t.Errorf("in the end it has %v", i.Labels)
	}
	if n := d.noted("agents", "bd-a.implement-1"); n != 1 || strings.Count(d.read("../log/agents"), "\n") != 1 {
		t.Errorf("agents:\n%s", d.read("../log/agents"))
	}
}

// With tracker { approvals = true } a label decides, if its author may; changes go to
// the agent with the comment. S4-98, S4-99
func TestALabelInBdDecides(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x >> a.txt; cat "$RALPH_FEEDBACK" >> "$TOP/log/feedback" 2>/dev/null || true`, askAda+"tracker \"bd\" { approvals = true }\n")
	d.put(`{"id":"bd-a"}`)
	w := d.going()
	d.stands("bd-a", "blocked")
	d.bd.Do(d.dir, "eve", "label", "add", "bd-a", "human:approved")
	d.until("eve is told no", func() bool {
		return strings.Contains(d.comments("bd-a"), "[not taken] [task:bd-a] human:approved by eve: ")
	})
	d.person("comments", "add", "bd-a", "use tabs, please")
	d.person("label", "add", "bd-a", "human:changes_requested")
	d.until("it was done again", func() bool { return strings.Contains(d.read("../log/feedback"), "use tabs, please") })
	d.until("it waits again", func() bool {
		i := d.bead("bd-a")
		return i.Status == "blocked" && !slices.Contains(i.Labels, "human:changes_requested")
	})
	d.person("label", "add", "bd-a", "human:approved")
	d.stands("bd-a", "closed")
	d.stop(w, exit.Interrupted)
	if i := d.bead("bd-a"); !slices.Equal(i.Labels, []string{"phase:implement"}) {
		t.Errorf("in the end it has %v", i.Labels)
	}
}

// All four labels may have other names, in hitl or, before that, in tracker: the worker
// speaks and understands those of the policy, and the others mean nothing.
func TestAWorkerUsesTheLabelsOfThePolicy(t *testing.T) { // S4-16, S4-97..99
	t.Parallel()
	d := faultDatabase(t, `echo x >> a.txt; cat "$RALPH_FEEDBACK" >> "$TOP/log/feedback" 2>/dev/null || true`, askAda+`
hitl { labels = { needs_approval = "please-look", approved = "overridden", exclude = "hands-off" } }
tracker "bd" {
  approvals = true
  labels    = { approved = "ok", changes_requested = "redo" }
}
`)
	d.put(`{"id":"bd-a"}`, `{"id":"bd-x","labels":["hands-off"]}`)
	w := d.going()
	d.stands("bd-a", "blocked")
	if i := d.bead("bd-a"); !slices.Contains(i.Labels, "please-look") || slices.Contains(i.Labels, "needs:human_approval") {
		t.Errorf("it asks with %v", i.Labels)
	}
	if c := d.comments("bd-a"); !strings.Contains(c, "bd label add bd-a ok") || !strings.Contains(c, "bd label add bd-a redo") {
		t.Errorf("it does not say which labels:\n%s", c)
	}
	d.person("label", "add", "bd-a", "human:approved")
	d.person("comments", "add", "bd-a", "use tabs, please")
	d.person("label", "add", "bd-a", "redo")
	d.until("it was done again", func() bool { return strings.Contains(d.read("../log/feedback"), "use tabs, please") })
	d.until("it waits again", func() bool {
		i := d.bead("bd-a")
		return i.Status == "blocked" && !slices.Contains(i.Labels, "redo")
	})
	d.person("label", "add", "bd-a", "ok")
	d.stands("bd-a", "closed")
	d.stop(w, exit.Interrupted)
	if i := d.bead("bd-a"); slices.Contains(i.Labels, "ok") || slices.Contains(i.Labels, "please-look") {
		t.Errorf("in the end it has %v", i.Labels)
	}
	if i := d.bead("bd-x"); i.Status != "open" {
		t.Errorf("what is excluded is %s", i.Status)
	}
}

// Whoever runs ralph apply on the epic of an issue by hand does the worker's work: it
// waits for the end of that, and writes back what came of it.
func TestARunThatSomebodyElseHoldsIsWaitedFor(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x >> a.txt; if [ "$RALPH_STEP" = polish ]; then `+untilGo+`; echo polished >> a.txt; fi`, strings.Replace(askAda, "gates        = [gate.ada]\n  }", `gates        = [gate.ada]
  }
  step "polish" { capabilities = ["implement"] }`, 1))
	d.put(`{"id":"bd-a"}`)
	d.worker(exit.Waiting, "--once")
	epic := d.epics()[0]
	if got := d.ralph("approve", "bd-a", "--as", "ada", "--epic", epic); got.code != exit.Done {
		t.Fatalf("approve: %s", got.all())
	}
	hand := d.start("apply", epic)
	d.exists("../log/at-work")
	w, said := d.watching("worker.txt", "worker", "--poll", "300ms", "--once")
	d.until("the worker steps back", func() bool { return strings.Contains(said(), "another ralph apply is running it") })
	d.open("go")
	if got := hand.wait(); got.code != exit.Done {
		t.Errorf("by hand: exit %d\n%s", got.code, got.all())
	}
	if got := w.wait(); got.code != exit.Done {
		t.Errorf("the worker ended with %d\n%s\n%s", got.code, said(), d.outputs())
	}
	if i, n := d.bead("bd-a"), d.noted("agents", "bd-a.polish-1"); i.Status != "closed" || n != 1 {
		t.Errorf("it is %s, and was polished %d times\n%s", i.Status, n, said())
	}
}

// A bd that refuses the update by which an issue goes on, or a kill in that very moment,
// loses no decision: the next look goes on with it. execution §9
func TestADecidedIssueIsNotLostWhereBdDoesNotTakeIt(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, askAda)
	d.put(`{"id":"bd-a"}`)
	d.worker(exit.Waiting, "--once")
	if got := d.ralph("approve", "bd-a", "--as", "ada", "--epic", "bd-a"); got.code != exit.Done {
		t.Fatalf("approve: %s", got.all())
	}
	d.bd.Faults(bdtest.Fault{On: "update", Nth: 1, Do: bdtest.Refuse, Text: "the database is locked"})
	got := d.worker(exit.Done, "--once")
	if i := d.bead("bd-a"); i.Status != "closed" {
		t.Errorf("it is %s with %v\n%s", i.Status, i.Labels, got.all())
	}
}

// What bd took though its answer did not come is not somebody else's: an issue that waits
// is still gone on with, one that was given back stays alone, one that failed is blocked.
// execution §9
func TestWhatBdTookWithoutAnAnswerIsTheWorkers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, agent, policy, said string
		code                      int
		goesOn                    bool
	}{
		{"waiting", `echo x > a.txt`, askAda, "waiting for a person: approval", exit.Waiting, true},
		{"blocked", `echo x > a.txt`, mustMend, "blocked: ", exit.NotDone, false},
		{"released", `echo half >> out.txt; echo '{"result":"partial","summary":"half"}' > "$RALPH_OUTCOME"`, neverWhole, "open again: partly done", exit.Done, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := faultDatabase(t, c.agent, c.policy)
			d.put(`{"id":"bd-a"}`)
			d.bd.Faults(bdtest.Fault{On: "update", Nth: 2, Do: bdtest.Answer}) // the first one claims it
			if got := d.worker(c.code, "--once"); !strings.Contains(got.out, "bd-a  "+c.said) || strings.Contains(got.out, "no longer belongs to this worker") {
				t.Errorf("it says\n%s", got.all())
			}
			d.bd.Faults()
			agents := d.read("../log/agents")
			if c.goesOn {
				if got := d.ralph("approve", "bd-a", "--as", "ada", "--epic", "bd-a"); got.code != exit.Done {
					t.Fatalf("approve: %s", got.all())
				}
			}
			got := d.worker(exit.Done, "--once")
			if closed := d.bead("bd-a").Status == "closed"; closed != c.goesOn || d.read("../log/agents") != agents {
				t.Errorf("closed: %v, agents\n%s\n%s", closed, d.read("../log/agents"), got.all())
			}
		})
	}
}

package executor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

func (r *Run) considerSkip(n *node, d Decision) (act, error) {
	switch {
	case n.sum:
		return nil, r.refuse(n, "the sum of all results cannot be skipped")
	case r.epic.Plans() != "":
		return nil, r.refuse(n, "without its plan a draft is nothing, so it is not skipped; cancel ends it")
	case r.shown(n) == Skipped:
		return nil, r.already(n, "is skipped already")
	case n.status == Done:
		return nil, r.refuse(n, "its work is done and there is nothing to skip")
	case n.status == Running && d.How != Forced:
		return nil, r.refuse(n, "to skip it now stops what runs: --force")
	case n.lands():
		return nil, r.refuse(n, "its result is being taken over just now; ask again in a moment")
	}
	return func() error {
		if err := r.stopNode(n, "skipped by "+d.By); err != nil {
			return err
		}
		n.people.skip, n.people.cancelled = true, ""
		if n.status != Pending {
			if err := r.move(n, Pending); err != nil {
				return err
			}
		}
		if !r.begun || r.foreign {
			return nil
		}
		return r.arrive(n)
	}, nil
}

func (r *Run) considerCancel(n *node, d Decision) (act, error) {
	switch {
	case n.sum:
		return nil, r.refuse(n, "the sum of all results cannot be cancelled")
	case n.status == Cancelled:
		return nil, r.already(n, "is cancelled already")
	case r.shown(n) == Skipped, n.status == Done:
		return nil, r.refuse(n, "there is nothing to cancel")
	case n.lands():
		return nil, r.refuse(n, "its result is being taken over just now; ask again in a moment")
	}
	return func() error {
		if err := r.stopNode(n, "cancelled by "+d.By); err != nil {
			return err
		}
		n.people.cancelled = d.By
		return r.move(n, Cancelled)
	}, nil
}

// lands reports whether a ref that others see is moving to the node's result: it
// cannot be called back.
func (n *node) lands() bool {
	return slices.ContainsFunc(n.life.flight, func(e Effect) bool { return e.Kind == EffectPublish || e.Kind == EffectLand })
}

// stopNode gives up the open attempt of a node that a person ends. What is in
// flight is stopped (Todo.Stop), and what it reports counts nothing.
func (r *Run) stopNode(n *node, why string) error {
	l := &n.life
	n.people.paused, n.people.reopen = "", false
	l.word, l.trouble = Decision{}, nil
	if r.lander == n {
		r.lander = nil
	}
	if l.attempt.status != AttemptRunning {
		return nil
	}
	if err := l.attempt.move(AttemptCancelled); err != nil {
		return err
	}
	log := &n.logs[len(n.logs)-1]
	log.Status, log.Reason, log.Ended = AttemptCancelled, why, r.at
	return nil
}

func (r *Run) considerPause(n *node, d Decision) (act, error) {
	switch {
	case n.people.paused != "":
		return nil, r.already(n, "was paused by %s already", n.people.paused)
	case n.sum:
		return nil, r.refuse(n, "the sum of all results cannot be paused; ralph pause holds the whole run")
	case n.status == Done, n.status == Blocked, n.status == Cancelled, r.shown(n) == Skipped:
		if d.Seen.State == underWay {
			return nil, r.already(n, "is %s meanwhile: there is nothing to pause", r.shown(n))
		}
		return nil, r.refuse(n, "there is nothing to pause")
	}
	return func() error {
		n.people.paused, n.people.pausedAt = d.By, r.at
		if n.status == Ready {
			return r.move(n, Pending)
		}
		return nil
	}, nil
}

func (r *Run) considerResume(n *node, d Decision) (act, error) {
	more := d.Budget != (ir.Budget{})
	budget := n.status == Waiting && n.wait.For == ForBudget && n.wait.Cause != CauseHeld
	enough := budget && r.nodeOver(n, d.Budget, r.at) == ""
	switch {
	case n.people.paused == "" && n.status == Waiting && n.wait.Cause == CauseHeld:
		return nil, &Refused{Why: fmt.Sprintf("%s waits because the whole run is held: %s", n.ir.Key, r.held.Detail), Hint: r.resumeHint()}
	case n.people.paused == "" && !more && d.Seen.wasPaused():
		return nil, r.already(n, "was resumed already")
	case n.people.paused == "" && !budget && !more && !n.waitsFor(CauseTakeover):
		return nil, r.refuse(n, "it is not paused")
	case budget && !enough && n.people.paused == "":
		return nil, &Refused{
			Why:  fmt.Sprintf("%s would stop again at once: %s", n.ir.Key, r.nodeOver(n, d.Budget, r.at)),
			Hint: fmt.Sprintf("ralph resume %s --budget %s", n.typed(), r.nodeMore(n, r.at)),
		}
	}
	return func() error {
		n.people.budget = addBudget(n.people.budget, d.Budget)
		paused := n.people.paused != ""
		n.people.paused = ""
		switch {
		case enough || n.waitsFor(CausePaused, CauseTakeover):
			return r.release(n, "resumed by "+d.By)
		case paused && n.status == Pending && r.begun && !r.foreign && !n.sum:
			return r.arrive(n)
		}
		return nil
	}, nil
}

// waysOf lists the commands that apply to a node as it stands now.
func (r *Run) waysOf(n *node) []string {
	key := n.typed()
	var out []string
	say := func(forms ...string) {
		for _, f := range forms {
			verb, rest, _ := strings.Cut(f, " ")
			out = append(out, strings.TrimRight("ralph "+verb+" "+key+" "+rest, " "))
		}
	}
	if n.people.paused != "" && (n.status != Waiting || n.wait.For != ForBudget) {
		say("resume")
	}
	switch s := r.shown(n); s {
	case Done:
		if !n.sum {
			out = append(out, "ralph apply --rerun "+key)
		}
		return out
	case Skipped, Cancelled:
		if n.people.reopen {
			return []string{"ralph apply"}
		}
		say("retry")
		if r.cannotKeepOld(n) == "" {
			say("retry --keep-old")
		}
	case Blocked:
		say("retry -m TEXT")
		if r.cannotHandIn(n) == "" {
			say("retry --gates-only", "retry --discard")
		}
		if r.cannotKeepOld(n) == "" {
			say("retry --keep-old")
		}
		if !n.sum {
			say(r.waysAround()...)
		}
		return out
	case Waiting:
		if n.wait.Cause == CauseHeld {
			return append(out, r.resumeHint())
		}
		if n.life.stale { // the next run begins it again
			out = append(out, "ralph apply")
			break
		}
		if n.wait.For == ForBudget {
			say("resume --budget " + cmp.Or(r.nodeMore(n, r.at), r.runMore(r.at), "usd=+20"))
			break
		}
		if r.parkedFor(n) != "" {
			say("retry")
			break
		}
		for _, c := range ends[n.wait.Cause] {
			if strings.HasPrefix(c, "reject") && n.life.stage == stageRed || c == "retry --gates-only" && r.cannotHandIn(n) != "" {
				continue
			}
			say(c)
		}
	}
	if n.sum || r.shown(n) == Skipped || n.status == Cancelled {
		return out
	}
	if r.cannotKeepOld(n) == "" {
		say("retry --keep-old")
	}
	if n.people.paused == "" {
		say("pause")
	}
	switch {
	case n.lands():
	case n.status == Running && r.epic.Plans() == "":
		say("skip --force", "cancel")
	default:
		say(r.waysAround()...)
	}
	return out
}

// waysAround ends a node without its result. A draft is nothing without its plan.
func (r *Run) waysAround() []string {
	if r.epic.Plans() != "" {
		return []string{"cancel"}
	}
	return []string{"skip", "cancel"}
}

// ends says which commands end a wait for a person, by cause.
var ends = map[Cause][]string{
	CauseApproval:  {"approve", "reject -m TEXT", "retry --gates-only"},
	CauseGate:      {"retry", "reject -m TEXT", "approve --override -m TEXT", "retry --gates-only"},
	CauseQuestion:  {"retry -m TEXT", "approve", "retry --gates-only"},
	CauseDiagnosis: {"retry -m TEXT", "approve", "retry --gates-only"},
	CauseTakeover:  {"retry -m TEXT", "approve", "resume"},
	CauseConfig:    {"retry"},
	CauseRunner:    {"retry"},
	CauseWorkspace: {"retry"},
	CauseConflict:  {"retry --gates-only", "retry"},
	CauseManual:    {"approve"},
	CauseHandedIn:  {"retry --gates-only", "retry --discard"},
	CauseForeign:   {"approve", "retry"},
	CauseOlder:     {"retry"},
	CauseProtected: {"approve", "reject -m TEXT", "retry -m TEXT", "retry --gates-only"},
	CauseDeadline:  {"retry", "approve"},
	causeOnly:      {"retry"},
	CausePaused:    {}, // resume stands first
	CausePull:      {}, // it is merged or closed where it is
}

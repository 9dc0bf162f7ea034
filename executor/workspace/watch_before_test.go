//go:build unix

package workspace

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// A look that comes too soon is left to the next one, but not at what ralph is about
// to overwrite: what others did there would never be seen. execution §5 (tampering)
func TestWhatIsOverwrittenIsLookedAtBefore(t *testing.T) {
	for ref, e := range map[string]executor.Effect{
		"refs/heads/ralph/x/integration":                       {Kind: executor.EffectPublish, Node: executor.Integration, Seq: 9},
		"refs/ralph/bd-epic/nodes/bd-1-1/result":               {Kind: executor.EffectPublish, Node: "bd-1-1", Seq: 9},
		"refs/heads/ralph/x/1-1":                               {Kind: executor.EffectPrepare, Node: "bd-1-1", Step: "implement", Attempt: 1},
		"refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/1": {Kind: executor.EffectPrepare, Node: "bd-1-1", Step: "implement", Attempt: 1},
	} {
		t.Run(ref, func(t *testing.T) {
			for name, packs := range map[string]string{"loose": "", "packed": "git pack-refs --all"} {
				t.Run(name, func(t *testing.T) {
					w := newWatching(t)
					w.sh("git update-ref " + ref + " main; " + packs)
					w.look()
					w.w.Begin(executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-2", Step: "implement", Attempt: 1})
					w.w.(*watch).next = time.Now().Add(time.Hour)
					w.sh("git update-ref -d " + ref)
					seen := w.w.Begin(e)
					at := slices.IndexFunc(seen, func(s executor.Sighting) bool { return s.What == ref })
					if at < 0 || seen[at].Was == "" || seen[at].Is != "" {
						t.Fatalf("sighted: %+v", seen)
					}
					if d := seen[at].During; len(d) != 1 || d[0].Node != "bd-1-2" {
						t.Errorf("at work: %+v", d)
					}
					if again := w.w.Begin(e); len(again) > 0 {
						t.Errorf("twice: %+v", again)
					}
				})
			}
		})
	}
}

// What ralph put somewhere since the last look is what was there: the command that puts
// it back does not take ralph's own result away. execution §5 (tampering)
func TestWhatIsPutBackIsWhatRalphPutThere(t *testing.T) {
	w := newWatching(t)
	w.w.(*watch).next = time.Now().Add(time.Hour)
	const ref = "refs/ralph/bd-epic/nodes/bd-1-1/result"
	at := w.git("rev-parse", "main")
	if err := w.space.git.update(t.Context(), "result", move{ref, "", at}); err != nil {
		t.Fatal(err)
	}
	w.sh("git update-ref " + ref + " $(git commit-tree -p HEAD -m evil HEAD^{tree})")
	w.look()
	seen := w.w.Begin(executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-2", Step: "implement", Attempt: 1})
	if len(seen) != 1 || seen[0].What != ref || seen[0].Was != at {
		t.Fatalf("sighted: %+v", seen)
	}
	w.sh(seen[0].Back)
	if is := w.git("rev-parse", ref); is != at {
		t.Errorf("%s put it at %s, want %s", seen[0].Back, is, at)
	}
}

// An attempt may move its own branch; what moves there when it has ended was not it,
// also where no look at all came between. execution §5 (tampering)
func TestABranchThatMovesAfterItsAttempt(t *testing.T) {
	w := newWatching(t)
	const ref = "refs/heads/ralph/x/1-1"
	commit := func(text string) string {
		return "git update-ref " + ref + " $(git commit-tree -p HEAD -m " + text + " HEAD^{tree})"
	}
	e := executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-1", Step: "implement", Attempt: 1}
	own := executor.During{Node: e.Node, Step: e.Step, Attempt: e.Attempt}
	w.w.Begin(e)
	w.w.(*watch).next = time.Now().Add(time.Hour)
	w.sh(commit("mine"))
	if seen := w.w.End(e); len(seen) != 1 || !slices.Contains(seen[0].During, own) {
		t.Fatalf("at its end: %+v", seen)
	}
	w.w.Begin(executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-2", Step: "implement", Attempt: 1})
	w.sh(commit("evil"))
	if seen := w.w.Finish(); len(seen) != 1 || seen[0].What != ref || slices.Contains(seen[0].During, own) {
		t.Fatalf("in the end: %+v", seen)
	}
}

// What ralph put somewhere since the last look, and others took away or put back to where
// it was seen, looks as it did. execution §5 (tampering)
func TestWhatOthersUndidSinceTheLastLookIsSeen(t *testing.T) {
	const ref = "refs/ralph/bd-epic/nodes/bd-1-1/result"
	result := executor.Effect{Kind: executor.EffectPublish, Node: "bd-1-1", Seq: 9}
	for name, looks := range map[string]func(w *watching) []executor.Sighting{
		"at all": func(w *watching) []executor.Sighting {
			w.look()
			return w.w.Begin(executor.Effect{Kind: executor.EffectAgent})
		},
		"at a few":   func(w *watching) []executor.Sighting { return w.w.Begin(result) },
		"at the end": func(w *watching) []executor.Sighting { return w.w.Finish() },
	} {
		t.Run(name, func(t *testing.T) {
			for name, before := range map[string]bool{"made": false, "moved": true} {
				t.Run(name, func(t *testing.T) {
					w := newWatching(t)
					was, undo := "", "git update-ref -d "+ref
					if before {
						was = w.git("rev-parse", "main")
						undo = "git update-ref " + ref + " " + was
						w.sh(undo)
						w.look()
						w.w.Begin(executor.Effect{Kind: executor.EffectAgent})
					}
					w.w.(*watch).next = time.Now().Add(time.Hour)
					at := w.git("commit-tree", "-m", "result", "HEAD^{tree}")
					if err := w.space.git.update(t.Context(), "result", move{ref, was, at}); err != nil {
						t.Fatal(err)
					}
					w.sh(undo)
					seen := looks(w)
					if len(seen) != 1 || seen[0].What != ref || seen[0].Was != at || seen[0].Is != was {
						t.Fatalf("sighted: %+v", seen)
					}
					if again := w.w.Finish(); len(again) > 0 {
						t.Errorf("twice: %+v", again)
					}
					if err := w.space.git.point(t.Context(), "result", [2]string{ref, at}); err != nil {
						t.Fatal(err)
					}
					if over := w.w.Finish(); len(over) != 1 || over[0].What != ref || !over[0].Over {
						t.Errorf("put there again: %+v", over)
					}
				})
			}
		})
	}
}

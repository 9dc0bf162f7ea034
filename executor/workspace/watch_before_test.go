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

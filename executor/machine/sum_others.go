package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// seen notes where the integration branch stands.
func (r *Run) seen(head executor.Tree) {
	if head.Commit != "" && (head.Commit != r.head.Commit || head.Tree != "") {
		r.head, r.headAt = head, r.seq
	}
}

// others reports whether the integration branch stands where ralph did not put it.
func (r *Run) others() bool {
	return r.sumRef != "" && r.head.Commit != "" && r.head.Commit != r.sumRef
}

// foreignBranch is what others made of the integration branch.
type foreignBranch struct {
	holds []string // of what mayHold lists; nil: nobody looked
	back  bool     // nothing was added: it stands where it once did
}

// sawForeign notes that the integration branch stands where others have put it.
func (r *Run) sawForeign(b executor.EffectFailed) {
	r.foreignHead, r.foreignIs, r.sumMeant = b.Head, foreignBranch{b.Holds, b.Back}, "" // what was meant was not done
	r.seen(b.Head)
}

// mayHold lists the commits of which it matters whether the integration branch holds
// them where others have put it: all results on record, the base that they stand on,
// and commits of others that were accepted before.
func (r *Run) mayHold() []string {
	return slices.Concat(r.Results(), []string{r.started.Base.Commit}, r.sumOthers, r.newOthers)
}

// acceptedOthers lists the heads of accepted commits of others in the branch.
func (r *Run) acceptedOthers() []string {
	return append(slices.DeleteFunc(slices.Clone(r.sumOthers), r.notTold), r.newOthers...)
}

// notTold reports whether a person decided about the branch, and git did not find a commit there.
func (r *Run) notTold(commit string) bool { return r.sumTold != nil && !r.sumTold[commit] }

// losesOthers lists the accepted commits of others that the next sum takes out of the
// branch. It keeps those that it begins at, and those that the base holds. anew: when a
// person lets it be made without what else it would lose.
func (r *Run) losesOthers(anew bool) (out []executor.Result) {
	if !r.joins() || r.sumRef == "" || r.others() {
		return nil
	}
	heads := r.acceptedOthers()
	if len(heads) == 0 {
		return nil
	}
	if inputs := r.sumInputs(); !anew {
		switch {
		case len(inputs) == 0 || inputs[0].Commit == r.accepted.Commit:
			return nil
		case inputs[0].Node == executor.Integration: // the last sum
			heads = r.newOthers
		}
	}
	for _, c := range heads {
		if !slices.Contains(r.baseOthers, c) {
			out = append(out, executor.Result{Node: executor.Integration, Tree: executor.Tree{Commit: c}})
		}
	}
	return out
}

// Others lists the heads of commits of others that were accepted on the integration branch.
func (r *Run) Others() []string { return r.acceptedOthers() }

// takeForeign takes note that a person decided about where others have put the branch:
// it holds what git found there.
func (r *Run) takeForeign() {
	r.sumRef = r.foreignHead.Commit
	if r.foreignIs.holds != nil {
		r.sumTold, r.sumPut = map[string]bool{}, nil
		for _, c := range r.foreignIs.holds {
			r.sumTold[c] = true
		}
		r.newOthers = slices.DeleteFunc(slices.Clone(r.newOthers), r.notTold)
	}
}

// newHead is the head of commits that others have put on the branch; none if it
// stands where it stood before, or at what ralph made.
func (r *Run) newHead() []string {
	_, own := r.madeFrom[r.sumRef]
	if own || r.foreignIs.back || r.sumRef == r.started.Base.Commit {
		return nil
	}
	return []string{r.sumRef}
}

// branchGone is told that somebody has deleted the integration branch: nothing of it
// can be lost any more, and what people said about it is void. The next sum makes it.
func (r *Run) branchGone() {
	r.head, r.sumRef, r.sumMeant, r.sumMeantOf, r.sumPut, r.sumTold = executor.Tree{}, "", "", nil, nil, nil
	r.foreignHead, r.foreignIs, r.accepted, r.newOthers, r.asideOthers, r.mayLose = executor.Tree{}, foreignBranch{}, executor.Tree{}, nil, nil, nil
}

// acceptForeign lets the next sum begin at what others have put on the
// integration branch; rebuildSum lets it replace what is there, which stays
// pinned, by what is done now.
func (r *Run) acceptForeign() {
	r.takeForeign()
	r.newOthers = append(r.newOthers, r.newHead()...)
	r.accepted = r.foreignHead
}

// rebuildSum of a sum that waits for foreign commits takes only these out: older
// results, and commits that were accepted before, are named first, and leave by a word
// of their own, that is about those which were named.
func (r *Run) rebuildSum() {
	if r.sum.waitsFor(executor.CauseForeign) {
		r.takeForeign()
		r.asideOthers = append(r.asideOthers, r.newHead()...)
	} else {
		r.mayLose = map[string]bool{}
		for _, c := range r.sum.wait.Loses {
			r.mayLose[c] = true
		}
	}
	r.accepted, r.rebuild = executor.Tree{}, true
}

// bindForeign binds a decision to where the branch stood when it was shown.
func (r *Run) bindForeign(d executor.Decision) (executor.Decision, error) {
	now := r.foreignHead.ID()
	if d.Result != "" && d.Result != now {
		return d, r.refuse(r.sum, "the branch has moved on since: it stands at %.12s", r.foreignHead.Commit)
	}
	d.Result = now
	return d, nil
}

// bindOlder binds a decision to what was named: nothing else leaves the branch by it.
func (r *Run) bindOlder(d executor.Decision) (executor.Decision, error) {
	sum := sha256.Sum256([]byte(strings.Join(r.sum.wait.Loses, "\n")))
	now := "sha256:" + hex.EncodeToString(sum[:])
	if d.Digest != "" && d.Digest != now {
		return d, r.refuse(r.sum, "the branch would lose something else than what was named")
	}
	d.Digest = now
	return d, nil
}

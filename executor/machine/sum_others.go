package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// seen notes the integration branch's commit.
func (ld *landing) seen(head executor.Tree) {
	if head.Commit != "" && (head.Commit != ld.head.Commit || head.Tree != "") {
		ld.head, ld.headAt = head, ld.seq
	}
}

// others reports whether the integration branch is where ralph did not put it.
func (sm *sum) others() bool {
	return sm.ref != "" && sm.landing.head.Commit != "" && sm.landing.head.Commit != sm.ref
}

// foreignBranch is what others made of the integration branch.
type foreignBranch struct {
	holds []string // of what mayHold lists; nil: not checked
	back  bool     // nothing was added: it is where it once did
}

// sawForeign notes that the integration branch is where others have put it.
func (sm *sum) sawForeign(b executor.EffectFailed) {
	sm.foreignHead, sm.foreignIs, sm.meant = b.Head, foreignBranch{b.Holds, b.Back}, "" // what was meant was not done
	sm.landing.seen(b.Head)
}

// mayHold lists the commits of which it matters whether the integration branch holds
// them where others have put it: all results on record, the base that they are on,
// and commits of others that were accepted before.
func (sm *sum) mayHold() []string {
	return slices.Concat(sm.results(), []string{sm.runs.started.Base.Commit}, sm.oldOthers, sm.newOthers)
}

// acceptedOthers lists the heads of accepted commits of others in the branch.
func (sm *sum) acceptedOthers() []string {
	return append(slices.DeleteFunc(slices.Clone(sm.oldOthers), sm.notTold), sm.newOthers...)
}

// notTold reports whether a person decided about the branch, and git did not find a commit there.
func (sm *sum) notTold(commit string) bool { return sm.told != nil && !sm.told[commit] }

// losesOthers lists the accepted commits of others that the next sum takes out of the
// branch. It keeps those that it begins at, and those that the base holds. anew: when a
// person lets it be made without what else it would lose.
func (sm *sum) losesOthers(anew bool) (out []executor.Result) {
	if !sm.joins() || sm.ref == "" || sm.others() {
		return nil
	}
	heads := sm.acceptedOthers()
	if len(heads) == 0 {
		return nil
	}
	if inputs := sm.inputs(); !anew {
		switch {
		case len(inputs) == 0 || inputs[0].Commit == sm.accepted.Commit:
			return nil
		case inputs[0].Node == executor.Integration: // the last sum
			heads = sm.newOthers
		}
	}
	for _, c := range heads {
		if !slices.Contains(sm.baseOthers, c) {
			out = append(out, executor.Result{Node: executor.Integration, Tree: executor.Tree{Commit: c}})
		}
	}
	return out
}

// Others lists the heads of others' commits that were accepted on the integration branch.
func (v Integration) Others() []string { return v.r.sum.acceptedOthers() }

// takeForeign takes note that a person decided about where others have put the branch:
// it holds what git found there.
func (sm *sum) takeForeign() {
	sm.ref = sm.foreignHead.Commit
	if sm.foreignIs.holds != nil {
		sm.told, sm.put = map[string]bool{}, nil
		for _, c := range sm.foreignIs.holds {
			sm.told[c] = true
		}
		sm.newOthers = slices.DeleteFunc(slices.Clone(sm.newOthers), sm.notTold)
	}
}

// newHead is the head of commits that others have put on the branch; none if it
// is where it was before, or at what ralph made.
func (sm *sum) newHead() []string {
	_, own := sm.lineage.madeFrom[sm.ref]
	if own || sm.foreignIs.back || sm.ref == sm.runs.started.Base.Commit {
		return nil
	}
	return []string{sm.ref}
}

// branchGone records that someone has deleted the integration branch: nothing of it
// can be lost any more, and what people said about it is void. The next sum makes it.
func (sm *sum) branchGone() {
	sm.landing.head, sm.ref, sm.meant, sm.meantOf, sm.put, sm.told = executor.Tree{}, "", "", nil, nil, nil
	sm.foreignHead, sm.foreignIs, sm.accepted, sm.newOthers, sm.asideOthers, sm.mayLose = executor.Tree{}, foreignBranch{}, executor.Tree{}, nil, nil, nil
}

// begin records the branch's commit when a run begins, "" if there is none.
func (sm *sum) begin(head string) {
	switch last := sm.last(); {
	case head == "" && sm.ref != "":
		sm.branchGone()
	case head == "":
	case head == sm.meant: // ralph ended when it had moved the branch
		sm.putAt(sm.meantOf)
		sm.ref = head
	case sm.ref == "" && last != nil && head == last.result.Commit: // it was deleted, and is there again
		sm.ref = head
	}
	sm.left, sm.leftOthers, sm.pinned = nil, nil, ""
}

// acceptForeign lets the next sum begin at what others have put on the
// integration branch; buildAnew lets it replace what is there, which stays
// pinned, by what is done now.
func (sm *sum) acceptForeign() {
	sm.takeForeign()
	sm.newOthers = append(sm.newOthers, sm.newHead()...)
	sm.accepted = sm.foreignHead
}

// buildAnew of a sum that waits for foreign commits takes only these out: older
// results, and commits that were accepted before, are named first, and leave by a word
// of their own, that is about those which were named.
func (sm *sum) buildAnew() {
	if sm.node.waitsFor(executor.CauseForeign) {
		sm.takeForeign()
		sm.asideOthers = append(sm.asideOthers, sm.newHead()...)
	} else {
		sm.mayLose = map[string]bool{}
		for _, c := range sm.node.wait.Loses {
			sm.mayLose[c] = true
		}
	}
	sm.accepted, sm.rebuild = executor.Tree{}, true
}

// bindForeign binds a decision to where the branch was when it was shown.
func (r *Run) bindForeign(d *executor.Decision, do act) (act, error) {
	now := r.sum.foreignHead.ID()
	if d.Result != "" && d.Result != now {
		return nil, r.refuse(r.sum.node, "the branch has moved on since: it is at %.12s", r.sum.foreignHead.Commit)
	}
	d.Result = now
	return do, nil
}

// bindOlder binds a decision to what was named: nothing else leaves the branch by it.
func (r *Run) bindOlder(d *executor.Decision, do act) (act, error) {
	sum := sha256.Sum256([]byte(strings.Join(r.sum.node.wait.Loses, "\n")))
	now := "sha256:" + hex.EncodeToString(sum[:])
	if d.Digest != "" && d.Digest != now {
		return nil, r.refuse(r.sum.node, "the branch would lose something other than what was named")
	}
	d.Digest = now
	return do, nil
}

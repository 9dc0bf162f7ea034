package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// mostListed bounds what one event lists of what a node starts from, in bytes of JSON.
const mostListed = 3000

// firstListed is how many inputs one event lists: at least one.
func firstListed(inputs []executor.Result) int {
	bytes := 0
	for i, x := range inputs {
		if bytes += x.Size(); bytes > mostListed && i > 0 {
			return i
		}
	}
	return len(inputs)
}

// starts are the events that begin a life of the node. A list that is too long for one
// event comes before, in parts; those that are on record already are not said again.
func (n *node) starts(inputs []executor.Result) []executor.Event {
	start := executor.NodeStarted{Key: n.ir.Key, Work: n.ir.Digest.Work, Judge: n.ir.Digest.Judge}
	if firstListed(inputs) == len(inputs) {
		start.Inputs = inputs
		return []executor.Event{n.event(start)}
	}
	from := len(n.listing)
	if from > len(inputs) || !slices.Equal(n.listing, inputs[:from]) {
		from = 0
	}
	var out []executor.Event
	for from < len(inputs) {
		to := from + firstListed(inputs[from:])
		out = append(out, n.event(executor.InputsListed{After: from, Inputs: inputs[from:to:to]}))
		from = to
	}
	start.Listed, start.List = len(inputs), listDigest(inputs)
	return append(out, n.event(start))
}

// listDigest is what a list of inputs is referred to by: their commits too.
func listDigest(inputs []executor.Result) string {
	h := sha256.New()
	for _, x := range inputs {
		fmt.Fprintf(h, "%q %q %q %q\n", x.Node, x.Commit, x.Tree.Tree, x.Same)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// inputsListed takes a part of a list; one that begins it anew drops what was there.
func (n *node) inputsListed(b executor.InputsListed) error {
	if b.After == 0 {
		n.listing = nil
	}
	if b.After != len(n.listing) {
		return fmt.Errorf("it follows %d inputs, and %d are listed", b.After, len(n.listing))
	}
	n.listing = append(n.listing, b.Inputs...)
	return nil
}

// takeListed completes a start with the list that it refers to.
func (n *node) takeListed(b *executor.NodeStarted) error {
	if b.Listed > 0 {
		if len(n.listing) != b.Listed || listDigest(n.listing) != b.List {
			return fmt.Errorf("it starts from %d inputs that are not listed before it", b.Listed)
		}
		b.Inputs = slices.Clip(n.listing)
	}
	n.listing = nil
	return nil
}

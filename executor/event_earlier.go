package executor

// earlier completes an event that an earlier release wrote: what it said in prose
// alone is read here, and nowhere else.
func earlier(b Body) Body {
	switch b := b.(type) {
	case NodeBlocked:
		return b.fromProse()
	case NodeRecovered:
		b.Kept = b.Kept.fromProse()
		return b
	}
	return b
}

// fromProse is what was kept before it said by what a node was blocked.
func (k Kept) fromProse() Kept {
	if k.Status == Blocked.String() && k.BlockedBy == "" {
		k.BlockedBy = NodeBlocked{Reason: k.Reason}.fromProse().By
	}
	return k
}

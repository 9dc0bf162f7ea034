package syntax

import (
	"github.com/ralph-compiler/ralph/diag"

	"github.com/ralph-compiler/ralph/internal/text"
)

// boxesDiffer warns where the boxes of an item say something else than what decides
// whether it is finished: a ticked item runs because of an open box in it, or one that
// a status or a mark makes finished has open boxes.
func (p *parser) boxesDiffer() {
	var runs, left []*Item
	for i := range p.plan.Items {
		switch it := &p.plan.Items[i]; {
		case it.Body.Boxes.Open == 0:
		case it.Done && it.DoneBy != "boxes":
			left = append(left, it)
		case !it.Done && it.Box == Ticked && it.Body.Label(Status) == nil:
			runs = append(runs, it)
		}
	}
	p.differing("open-below-tick", runs, "ticked and not finished",
		"%s is ticked, but %s: an item is finished when all of its boxes are ticked, so apply runs it. Tick the boxes inside if they are done, or clear the item's own.")
	p.differing("open-in-finished", left, "finished with open boxes",
		"The plan says that %s is finished, but %s: apply does not run it. Tick what is done, or take away what says that the item is finished.")
}

func (p *parser) differing(code diag.Code, items []*Item, what, detail string) {
	if len(items) == 0 {
		return
	}
	first := items[0].Body.Boxes
	which := text.Counted(first.Open, "box is open", "boxes are open") + " in it"
	if first.Open == 1 && items[0].Box == Open {
		which = "its own box is open"
	}
	d := diag.Newf(code, first.FirstOpen, "%s %s", text.Counted(len(items), "item is", "items are"), what).WithDetail(
		detail, clip(items[0].ID, 20), which)
	if items[0].Done {
		d = d.WithRelated(items[0].DoneRange, "this says that it is finished")
	}
	for _, it := range items[1:min(len(items), maxRelated)] {
		d = d.WithRelated(it.Body.Boxes.FirstOpen, "%s: open here", clip(it.ID, 20))
	}
	p.report(d)
}

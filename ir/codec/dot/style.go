package dot

import "github.com/ralph-compiler/ralph/ir"

const font = `"Helvetica,Arial,sans-serif"`

// look is how a level of complexity is drawn: a colour, and a border that can
// be told apart without it.
type look struct {
	fill, border string
	style        string // of the border, in addition to "filled"
	peripheries  int
}

var looks = map[string]look{
	"trivial":  {fill: "#F7F7F8", border: "#9AA0A6", style: "dotted", peripheries: 1},
	"simple":   {fill: "#E9F6EC", border: "#3C9A5F", peripheries: 1},
	"standard": {fill: "#E7F0FB", border: "#3A74C4", peripheries: 1},
	"critical": {fill: "#FDEBE7", border: "#C63C2B", peripheries: 2},
}

var otherLook = look{fill: "#F4ECF9", border: "#8644A8", peripheries: 1}

var levels = []string{"trivial", "simple", "standard", "critical"}

var shapes = map[ir.Kind]string{ir.Work: "box", ir.Merge: "hexagon", ir.GateKind: "octagon", ir.Manual: "ellipse"}

const (
	ink       = "#1F2328"
	quiet     = "#5B6470"
	edgeInk   = "#8A929C"
	pathInk   = "#D9730D" // the critical path
	impactInk = "#7A3FC4" // what depends on the node that was asked for
	warnFill  = "#FFF8E6"
	warnInk   = "#9A6412"
	fadedInk  = "#B9BEC5"
	fadedLine = "#DADDE1"
)

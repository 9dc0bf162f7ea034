package bead

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// maxMinutes bounds timeout_minutes, as durations in a plan.
const maxMinutes = 10 * 366 * 24 * 60

// extensions reads the keys that the format reserves for later. Each is kept as it
// is, so that it comes out again, and does what ralph can do of it.
func (d *decoding) extensions(b *bead, f foreign.Fields) {
	n := &b.node
	for _, name := range extensionKeys {
		if x := f.Get(name); x != nil {
			b.metadata[name] = x.Plain()
		}
	}
	if x := f.Get("timeout_minutes"); x != nil {
		if m, _ := strconv.ParseFloat(x.Text, 64); x.Kind != 'n' || m <= 0 || m > maxMinutes {
			b.r.Wrong(x, "a number of minutes greater than 0")
		} else {
			n.Timeout = b.stated(x, fmt.Sprintf("%ds", int64(math.Ceil(m*60))))
		}
	}
	if x := f.Get("approval_required"); x != nil {
		d.approval(b, x)
	}
	if x := f.Get("rollback_strategy"); x != nil {
		d.rollback(b, x)
	}
	image, limits := f.Get("docker_image"), f.Get("resource_limits")
	if image != nil || limits != nil {
		d.sandbox(b, image, limits)
	}
	if x := f.Get("notification_config"); x != nil {
		d.unused(b, x, "bead-place", "notifications are the policy's",
			"notification_config is kept and does nothing. Write notify { on = [\"failed\"] run = [\"command\"] } into ralph.hcl.")
	}
}

// approval makes a human gate: true, names, or {"approvers": names}.
func (d *decoding) approval(b *bead, v *foreign.Value) {
	names := v
	if v.Kind == '{' {
		if names = v.Any("approvers"); names == nil {
			b.node.Approval = b.stated(v, "required")
			return
		}
	}
	var all []string
	switch {
	case names.Kind == 'b':
		if names.Truth {
			b.node.Approval = b.stated(v, "required")
		}
		return
	case names.Kind == 's':
		all = []string{names.Text}
	case names.Kind == '[':
		for _, x := range names.Items {
			all = append(all, x.Text)
		}
	}
	for i, name := range all {
		all[i] = strings.TrimPrefix(strings.TrimSpace(name), "@")
		if all[i] == "" || strings.ContainsAny(all[i], " \t\n,&+") {
			all = nil
			break
		}
	}
	if len(all) == 0 { // an unreadable approval still counts as one
		b.r.Wrong(v, "true, false, or the names of those who may approve")
		return
	}
	b.node.Approval = b.stated(v, "required from @"+strings.Join(all, ", @"))
}

// rollback says what becomes of a failed attempt's changes.
func (d *decoding) rollback(b *bead, v *foreign.Value) {
	word := ""
	if v.Kind == 's' {
		word = strings.ToLower(strings.TrimSpace(v.Text))
	}
	switch word {
	case "keep", "none", "manual":
		b.node.OnFailure = b.stated(v, "keep")
	case "reset", "discard":
		b.node.OnFailure = b.stated(v, "reset")
	case "revert", "rollback":
		b.node.OnFailure = b.stated(v, "reset")
		d.unused(b, v, "bead-place", "a failed attempt is reset, not reverted",
			"ralph has no commits that undo others: the next attempt starts where the failed one did. Write reset to silence this, or keep.")
	default:
		d.unused(b, v, "bead-place", "the rollback strategy means nothing to ralph",
			"It is kept and does nothing. Write keep (the next attempt goes on from what is there) or reset (it starts where the failed one did).")
	}
}

// sandbox confines the work. ralph carries it, and apply refuses to run without it
// what asked for it.
func (d *decoding) sandbox(b *bead, image, limits *foreign.Value) {
	s := &ir.Sandbox{Kind: "container", Limits: map[string]string{}}
	at := image
	if image != nil {
		if image.Kind != 's' || strings.TrimSpace(image.Text) == "" {
			b.r.Wrong(image, "the name of an image")
			return
		}
		s.Limits["image"] = strings.TrimSpace(image.Text)
	}
	if limits != nil {
		if limits.Kind != '{' {
			b.r.Wrong(limits, `an object such as {"cpu": "2", "memory": "4g"}`)
			return
		}
		at = cmp.Or(at, limits)
		for _, m := range limits.Members {
			switch m.Value.Kind {
			case 's', 'n':
				s.Limits[m.Name] = m.Value.Text
			default:
				b.r.Wrong(m.Value, "a number or a text")
			}
		}
	}
	b.node.Sandbox = s
	if !b.node.Done {
		d.unused(b, at, "bead-sandbox", "agents cannot be confined yet",
			"The bead asks for a container, and apply refuses to do its work without one. Remove docker_image and resource_limits if it may run outside.")
	}
}

package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// GraphNumbers prints waves, critical path and impact as text.
func GraphNumbers(epic *ir.Epic, waves, critical bool, impact string) []byte {
	s := epic.Stats()
	var b strings.Builder
	if waves {
		for i, w := range s.Waves {
			fmt.Fprintf(&b, "wave %d: %s\n", i+1, JoinKeys(w, " "))
		}
	}
	if critical {
		fmt.Fprintf(&b, "critical path: %s\n", JoinKeys(s.Critical, " → "))
		fmt.Fprintf(&b, "%s, longest path %d, widest wave %d, at most %s× faster in parallel\n",
			text.Count(s.Nodes, "node"), len(s.Longest), s.Widest, strconv.FormatFloat(max(s.SpeedUp, 1), 'f', -1, 64))
		b.WriteString(slack(s))
	}
	if impact != "" {
		if waiting := ir.Impact(epic.Nodes, ir.Key(impact)); len(waiting) == 0 {
			fmt.Fprintf(&b, "nothing waits for %s\n", impact)
		} else {
			fmt.Fprintf(&b, "%s for %s: %s\n", text.Counted(len(waiting), "sprint waits", "sprints wait"), impact, JoinKeys(waiting, " "))
		}
	}
	return []byte(reveal.Words(b.String()))
}

// slack lists what may be late without delaying the end, and by how much.
func slack(s ir.Stats) string {
	var late []string
	for _, x := range s.Slack {
		switch {
		case x.Slack == 0:
		case s.Unit == "ms":
			late = append(late, fmt.Sprintf("%s %v", x.Key, time.Duration(x.Slack)*time.Millisecond))
		default:
			late = append(late, fmt.Sprintf("%s %d", x.Key, x.Slack))
		}
	}
	if len(late) == 0 {
		return ""
	}
	return "slack: " + strings.Join(late, ", ") + "\n"
}

// JoinKeys writes keys one after the other.
func JoinKeys(keys []ir.Key, sep string) string {
	return strings.Join(lists.Map(keys, func(k ir.Key) string { return string(k) }), sep)
}

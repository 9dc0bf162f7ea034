package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/policies"
)

// policy says who works here and what judges, as the project's policy says.
func (p *page) policy(s *policies.Set) {
	p.head("Who works here, and what judges")
	p.agents(s)
	p.gates(s)
	p.levels(s)
	if v := s.Ralph.Lanes.V; len(v) > 0 {
		p.say("", "Lanes: "+words(v)+". Another one is an error.")
	}
	if s.Ralph.Override.Set {
		p.say("", "Of the labels that set how work is done, a plan may use only those for "+words(s.Ralph.Override.V)+"; another one is an error.")
	}
}

func (p *page) agents(s *policies.Set) {
	rows := []string{"| agent | capabilities | access |", "|---|---|---|"}
	own := s.UserAgents()
	for _, n := range slices.Sorted(maps.Keys(s.Agents)) {
		a := s.Agents[n]
		if own && a.Builtin || !a.Active.Get(true) || slices.Contains(a.Capabilities.V, "explore") {
			continue // a last resort, inactive, or an explorer for plans
		}
		access := a.Access.V
		if a.Human.V {
			access = "a person"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", code(n), words(a.Capabilities.V), access))
		if len(rows) > maxListed {
			break
		}
	}
	p.say("ralph chooses the agent of a sprint by what the work needs. Name one only where its choice would be wrong.", "")
	p.say(rows...)
}

// gates says what judges each sprint regardless of the plan, and which other gates
// there are.
func (p *page) gates(s *policies.Set) {
	on := stepGates(s)
	rows := []string{"| gate | kind | judges by |", "|---|---|---|"}
	for _, n := range on {
		if g := s.Gates[n]; g != nil {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |", code(n), g.Kind.V, judgesBy(g)))
		}
	}
	if len(rows) > 2 {
		p.say("", "These gates of the policy judge every sprint, whatever the plan says:", "")
		p.say(rows[:min(len(rows), maxListed)]...)
		return
	}
	if s.DefaultPolicy().Dynamic {
		p.say("", "Which gates of the policy judge a sprint depends on the sprint. Give each its own command under **Verify**.")
		return
	}
	p.say("", "No gate of the policy judges sprints: each needs its own command under **Verify**.")
}

func judgesBy(g *policies.Gate) string {
	switch g.Kind.V {
	case "command":
		if g.Run.V == "" {
			return "a command that depends on the sprint"
		}
		by := strings.ReplaceAll(code(text.OneLine(g.Run.V)), "|", "\\|")
		if g.RedFirst.V {
			by += "; has to fail before the work"
		}
		if len(g.Protect.V) > 0 {
			by += "; no sprint may change " + words(g.Protect.V)
		}
		return by
	case "agent", "review":
		return word(g.Prompt.V)
	case "human":
		return "approval by " + words(g.Approvers.V)
	case "outcome":
		return "what the agent reports"
	}
	return ""
}

// levels lists the levels of complexity.
func (p *page) levels(s *policies.Set) {
	names := slices.SortedFunc(maps.Keys(s.Complexity), func(a, b string) int {
		return cmp.Or(s.Complexity[a].Rank.V-s.Complexity[b].Rank.V, strings.Compare(a, b))
	})
	def, _ := s.MatchComplexity("", "", nil)
	rows := []string{"| complexity | recognised by | review |", "|---|---|---|"}
	for _, n := range names[:min(len(names), maxListed)] {
		c := s.Complexity[n]
		by := words(c.Keywords.V[:min(len(c.Keywords.V), 8)])
		if len(c.Keywords.V) > 8 {
			by += ", …"
		}
		if n == def {
			by = strings.TrimPrefix(by+", what nothing else fits", ", ")
		}
		review := ""
		if c.Review.V == "required" {
			review = "a blind review judges it, too"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", code(n), by, review))
	}
	p.say("", "A sprint's complexity says how much it may take. It is recognised by the words of its title (and of the rest, where the level asks for a review):", "")
	p.say(rows...)
}

// words lists another's words.
func words(list []string) string {
	return strings.Join(lists.Map(list[:min(len(list), 50)], word), ", ")
}

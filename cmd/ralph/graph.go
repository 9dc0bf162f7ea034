package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/dot"
	"github.com/ralph-compiler/ralph/ir/codec/graphjson"
	"github.com/ralph-compiler/ralph/ir/codec/mermaid"
)

// graphArgs are the flags of graph.
type graphArgs struct {
	format   string
	waves    bool
	critical bool
	impact   string
	policy   bool
}

func newGraphCommand() *cobra.Command {
	a := &graphArgs{}
	cmd := &cobra.Command{
		Use:   "graph [epic.json]",
		Short: "Draw an epic, or print its waves, critical path or impact",
		Long: `Graph draws the compiled epic: DOT by default, for Graphviz. Boxes are work, the other
kinds have other shapes; dashed edges do not schedule; the critical path is bold.

Without --format, --waves prints what can run together, --critical-path the longest
chain and how much parallel work can gain, --impact KEY what waits for a node; with
--format they shape the drawing. --policy draws steps, agents and fallbacks instead,
with dead ends and single points of failure.`,
		Example: `  ralph graph | dot -Tsvg > epic.svg
  ralph graph --format svg > epic.svg
  ralph graph --format mermaid
  ralph graph --waves
  ralph graph --impact 1.2a
  ralph graph --policy | dot -Tsvg > policy.svg`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runGraph(cmd, a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&a.format, "format", "", "dot (the default), mermaid, svg or json")
	f.BoolVar(&a.waves, "waves", false, "what can run together")
	f.BoolVar(&a.critical, "critical-path", false, "the longest chain, slack, the bound on speed-up")
	f.StringVar(&a.impact, "impact", "", "what waits for this node, directly or not")
	f.BoolVar(&a.policy, "policy", false, "steps, agents and fallbacks instead of nodes")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"dot", "mermaid", "svg", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runGraph(cmd *cobra.Command, a *graphArgs, args []string) error {
	shortLived()
	if !slices.Contains([]string{"", "dot", "mermaid", "svg", "json"}, a.format) {
		return usageErrorf("--format %s: write dot, mermaid, svg or json", a.format)
	}
	if a.policy && (a.waves || a.critical || a.impact != "") {
		return usageErrorf("--policy draws steps and agents; leave out --waves, --critical-path and --impact")
	}
	file, err := epicPath(args)
	if err != nil {
		return err
	}
	epic, _, err := loadEpic(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if a.impact != "" {
		if err := knownKey(epic, a.impact); err != nil {
			return err
		}
	}
	out := cmd.OutOrStdout()
	if a.format == "" && !a.policy && (a.waves || a.critical || a.impact != "") {
		return a.sayNumbers(out, epic)
	}
	drawing, err := a.draw(epic)
	if err != nil {
		return err
	}
	if a.format == "svg" {
		if drawing, err = graphviz(drawing); err != nil {
			return err
		}
	}
	_, err = out.Write(drawing)
	return err
}

// knownKey complains about a key that no node has.
func knownKey(epic *ir.Epic, key string) error {
	keys := make([]string, len(epic.Nodes))
	for i, n := range epic.Nodes {
		if string(n.Key) == key {
			return nil
		}
		keys[i] = string(n.Key)
	}
	return inputErrorf("there is no node %s%s; ralph graph --waves lists all", key, spell.Hint(key, keys))
}

// draw writes the drawing that was asked for; an SVG is still DOT here.
func (a *graphArgs) draw(epic *ir.Epic) ([]byte, error) {
	switch {
	case a.policy && a.format == "json":
		var b bytes.Buffer
		err := writeJSON(&b, dot.Policies(epic))
		return b.Bytes(), err
	case a.policy && a.format == "mermaid":
		return nil, usageErrorf("--policy is drawn as dot, svg or json")
	case a.policy:
		return dot.WritePolicies(epic.Epic.Title, dot.Policies(epic)), nil
	case a.format == "mermaid":
		return mermaid.Write(epic, mermaid.Options{Impact: ir.Key(a.impact)}), nil
	case a.format == "json":
		b, err := graphjson.Write(epic)
		return reveal.JSON(b), err
	}
	return dot.Write(epic, dot.Options{Waves: a.waves, CriticalPath: a.critical, Impact: ir.Key(a.impact)}), nil
}

// sayNumbers prints waves, critical path and impact as text.
func (a *graphArgs) sayNumbers(out io.Writer, epic *ir.Epic) error {
	s := epic.Stats()
	var b strings.Builder
	if a.waves {
		for i, w := range s.Waves {
			fmt.Fprintf(&b, "wave %d: %s\n", i+1, joinKeys(w, " "))
		}
	}
	if a.critical {
		fmt.Fprintf(&b, "critical path: %s\n", joinKeys(s.Critical, " → "))
		fmt.Fprintf(&b, "%s, longest path %d, widest wave %d, at most %s× faster in parallel\n",
			count(s.Nodes, "node"), len(s.Longest), s.Widest, strconv.FormatFloat(max(s.SpeedUp, 1), 'f', -1, 64))
		b.WriteString(slack(s))
	}
	if a.impact != "" {
		waiting := ir.Impact(epic.Nodes, ir.Key(a.impact))
		if len(waiting) == 0 {
			fmt.Fprintf(&b, "nothing waits for %s\n", a.impact)
		} else {
			fmt.Fprintf(&b, "%s for %s: %s\n", waits(len(waiting)), a.impact, joinKeys(waiting, " "))
		}
	}
	_, err := io.WriteString(out, term.Clean(b.String()))
	return err
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

func waits(n int) string {
	if n == 1 {
		return "1 node waits"
	}
	return fmt.Sprintf("%d nodes wait", n)
}

func joinKeys(keys []ir.Key, sep string) string {
	s := make([]string, len(keys))
	for i, k := range keys {
		s[i] = string(k)
	}
	return strings.Join(s, sep)
}

// graphviz pipes DOT through the program dot.
func graphviz(drawing []byte) ([]byte, error) {
	path, err := exec.LookPath("dot")
	if err != nil {
		return nil, inputErrorf("an SVG needs Graphviz, and dot is not on PATH.\n" +
			"  Install it (apt-get install graphviz, brew install graphviz, winget install graphviz),\n" +
			"  or draw with ralph graph --format mermaid, which GitHub shows as it is")
	}
	cmd := exec.Command(path, "-Tsvg")
	cmd.Stdin = bytes.NewReader(drawing)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	svg, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, inputErrorf("dot -Tsvg: %s", strings.TrimSpace(errOut.String()))
		}
		return nil, inputErrorf("dot -Tsvg: %w", err)
	}
	return svg, nil
}

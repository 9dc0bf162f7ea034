package beadsmith

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// doneMarker is what an agent ends with by default.
const doneMarker = "DONE"

// criteriaTypes are the kinds of criteria with the keys that their config may have.
var criteriaTypes = map[string][]string{
	"tests_pass": {"command", "gate"},
	"done_tag":   {"marker", "gate"},
	"no_errors":  {"gate"},
	"custom":     {"command", "pattern", "condition", "gate", "kind", "exitCode"},
}

// regexpSigns make a pattern more than a text.
const regexpSigns = `\^$*+?()[]{}|`

// criteria makes gates of what judges a task.
func (d *decoding) criteria(in, v *foreign.Value, t *task) {
	switch {
	case v == nil:
		d.Missing(in, "successCriteria", "the list of what judges the work")
		return
	case v.Kind != '[':
		d.Wrong(v, "a list of criteria")
		return
	case len(v.Items) == 0:
		d.Diags.Add(diag.New("task-no-criterion", d.At(v), "nothing judges the work").
			WithDetail("%s is empty, so every attempt would pass. Add a criterion: {\"type\": \"tests_pass\"} with a testCommand.", v.Pointer))
		return
	}
	kept := make([]json.RawMessage, 0, len(v.Items))
	for _, x := range v.Items {
		if x.Kind != '{' {
			d.Wrong(x, "an object with a type")
			continue
		}
		kept = append(kept, x.Plain())
		d.criterion(x, t)
	}
	t.ext["successCriteria"] = foreign.Raw(kept)
}

func (d *decoding) criterion(v *foreign.Value, t *task) {
	f := d.Fields(v, nil, "type", "config")
	x := d.Need(v, f, "type", "tests_pass, done_tag, no_errors or custom")
	kind := d.Word(x, "tests_pass", "done_tag", "no_errors", "custom")
	if kind == "" {
		return
	}
	config := foreign.Fields{}
	if c := f.Get("config"); c != nil {
		if !d.Is(c, '{', "an object") {
			return
		}
		config = d.Fields(c, nil, criteriaTypes[kind]...)
	}
	g := ir.DraftGate{Range: d.At(v), NameRange: d.At(x)}
	name := strings.ReplaceAll(kind, "_", "-")
	if c := config.Get("gate"); c != nil {
		name = d.Text(c, "the name of the gate")
	}
	told := []string(nil)
	switch kind {
	case "tests_pass":
		g.Tests, g.Run = true, t.command
		if c := config.Get("command"); c != nil {
			g.Run = command(d.Text(c, "the command that runs the tests"))
		}
		told = []string{"The tests pass"}
		if g.Run != "" {
			told = quoted("This passes", g.Run, "")
		}
	case "done_tag":
		marker := doneMarker
		if c := config.Get("marker"); c != nil {
			marker = d.oneLine(c, "what the agent ends with")
		}
		d.promise(t, &g, marker)
		told = []string{ending(marker)}
	case "no_errors":
		g.NoErrors = true
		told = []string{"No errors are left; an error that is left is reported"}
	case "custom":
		told = d.custom(v, config, t, &g)
	}
	g.Name = gateName(t.names, name)
	t.node.Verify = append(t.node.Verify, g)
	if len(told) != 1 || !slices.Contains(t.node.Acceptance, told[0]) {
		t.node.Acceptance = append(t.node.Acceptance, told...)
	}
}

// custom is a command, with a text that it has to print if a pattern is given, or a
// condition: words that the agent has to end with.
func (d *decoding) custom(v *foreign.Value, config foreign.Fields, t *task, g *ir.DraftGate) (told []string) {
	if c := config.Get("kind"); c != nil {
		if w := d.Word(c, "command", "agent", "review", "human"); w != "" && w != "command" {
			d.Wrong(c, "command: who else judges the work is said by the policy of the project, not by the task; remove this criterion")
			return nil
		}
	}
	pattern := ""
	if c := config.Get("pattern"); c != nil {
		if pattern = d.oneLine(c, "a text that the command has to print"); strings.ContainsAny(pattern, regexpSigns) {
			d.Wrong(c, "a text that is looked for as it is, not a regular expression; put an expression into the command: COMMAND | grep -E PATTERN")
			return nil
		}
	}
	run, condition := config.Get("command"), config.Get("condition")
	switch {
	case run != nil && condition != nil:
		d.Wrong(condition, "left out beside a command, or a criterion of its own")
	case run != nil:
		g.Run = command(d.Text(run, "a command for the shell"))
		g.Expect.StdoutContains = pattern
		asks := "This passes"
		if c := config.Get("exitCode"); c != nil {
			n, _ := d.Whole(c, 0, 255)
			g.Expect.ExitCode = int(n)
			asks = fmt.Sprintf("This ends with exit code %d", n)
		}
		return quoted(asks, g.Run, pattern)
	case condition != nil:
		words := d.oneLine(condition, "words that the agent has to end with")
		d.promise(t, g, words)
		return []string{ending(words)}
	default:
		d.Missing(v, "config/command", "a command for the shell, without which nothing can be judged")
	}
	return nil
}

// promise asks for words at the end; a task can ask for one text only.
func (d *decoding) promise(t *task, g *ir.DraftGate, text string) {
	g.Promise = text
	if t.promise != "" && text != "" && t.promise != text {
		d.Diags.Add(diag.New("task-two-promises", g.Range, "two different last words are asked for").
			WithDetail("An agent ends once: with %q or with %q. Ask for one of them, or make the other a command.", foreign.Clip(t.promise), foreign.Clip(text)).
			WithRelated(t.promised, "the first one"))
		return
	}
	t.promise, t.promised = text, g.Range
}

// oneLine is a text that is in one line, of at most 200 bytes: what a promise
// holds, and what is looked for in outputs.
func (d *decoding) oneLine(v *foreign.Value, what string) string {
	s := d.Text(v, what)
	if s != text.OneLine(s) || len(s) > 200 || strings.Contains(s, "</promise>") {
		d.Wrong(v, what+", one line of at most 200 bytes without blanks at its ends or two in a row")
		return ""
	}
	return s
}

func ending(words string) string {
	return "When everything is done, and only then, the last line of your last message is <promise>" + words + "</promise>"
}

// quoted shows a command to an agent, in its line or below it, and what it has to
// print.
func quoted(asks, run, prints string) []string {
	if prints != "" {
		asks += fmt.Sprintf(" and prints %q", prints)
	}
	lines := strings.Split(run, "\n")
	if len(lines) == 1 {
		return []string{asks + ": `" + run + "`"}
	}
	out := []string{asks + ":"}
	out = append(out, lists.Map(lines, func(l string) string { return "  " + l })...)
	return out
}

// gateName is the name of a criterion's gate, counted up where two are alike.
func gateName(names map[string]bool, wanted string) string {
	base := wanted[strings.LastIndexByte(wanted, '/')+1:] // one that an export wrote
	if base = foreign.Slug(base); base == "" {
		base = "custom"
	}
	return foreign.FreeName(names, base)
}

package ralphbead

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// defaultTimeout is what a verifier without timeout_seconds gets.
const defaultTimeout = 300

// idPattern is an id that can also be a part of git's refs.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-])*$`)

// maxID is the longest id, in characters: that of an annotation in a plan.
const maxID = 64

// bead reads the object of the file.
func (d *decoding) bead(root *foreign.Value) {
	f := d.Fields(root, d.ext, "$schema", "id", "title", "intent", "type", "priority", "lane", "dod", "constraints", "ralph_meta", "status")
	n := &d.node
	n.Kind, n.Word, n.PhaseIndex, n.Ordered = ir.Work, "Bead", -1, true
	here := d.File.Range(root.Start, root.Start+1)
	n.Range, n.KeyRange, d.draft.Range = here, here, here
	if v := f["id"]; v != nil {
		d.id(v)
	}
	if v := f["title"]; v != nil {
		n.Title = strings.Join(strings.Fields(d.Text(v, "the title")), " ")
		n.Range, d.draft.Range = d.At(v), d.At(v)
	}
	if v := f["intent"]; v != nil {
		n.Goal = strings.TrimSpace(strings.ReplaceAll(d.Text(v, "what must be accomplished"), "\r\n", "\n"))
	} else {
		d.Missing(root, "intent", "what must be accomplished, a text")
	}
	if v := f["type"]; v != nil {
		if w := d.Word(v, "task", "feature", "bugfix", "gate"); w != "" {
			n.Type = d.Stated(v, w)
			if w == "gate" {
				n.Kind = ir.GateKind
			}
		}
	}
	if v := f["priority"]; v != nil {
		d.priority(v)
	}
	if v := f["lane"]; v != nil {
		if w := strings.ToLower(d.Text(v, "the lane")); strings.ContainsAny(w, " \t\n") {
			d.Wrong(v, "one word: fast, feature, maintenance, experimental, or a lane that the policy declares")
		} else if w != "" {
			n.Lane = d.Stated(v, w)
		}
	}
	if v := f["status"]; v != nil {
		d.status(v)
	}
	if v := f[foreign.Plain("ralph_meta")]; v != nil {
		if v.Kind != '{' {
			d.Wrong(v, "an object")
		}
		d.ext["ralph_meta"] = v.Plain()
	}
	if v := f["constraints"]; v != nil {
		d.constraints(v)
	}
	if v := f["dod"]; v != nil {
		d.dod(v)
	} else {
		d.Missing(root, "dod", "the definition of done, an object with verifiers")
	}
}

func (d *decoding) id(v *foreign.Value) {
	id := d.Text(v, "the id of the bead")
	if id == "" {
		return
	}
	if len(id) > maxID || !idPattern.MatchString(id) || strings.HasSuffix(id, ".lock") || id == "integration" {
		d.Wrong(v, fmt.Sprintf("letters, digits, \"-\", \"_\" and single dots, at most %d of them; ids become part of git's refs, and \"integration\" is ralph's own", maxID))
		return
	}
	d.node.ID, d.node.IDRange = ir.NodeID(id), d.At(v)
	d.node.Key, d.node.KeyRange = ir.Key(id), d.At(v)
}

// priority has one step more than ralph's own scale.
func (d *decoding) priority(v *foreign.Value) {
	p, ok := d.Whole(v, 0, 5)
	if !ok {
		return
	}
	if p == 5 {
		d.ext["priority"] = json.Number("5")
		d.Diags.Add(diag.New("bead-priority", d.At(v), "priority 5 becomes 4").
			WithDetail("ralph's priorities go from 0 (critical) to 4 (minimal). The 5 is kept in epic.json (nodes.ext.%s). Write 4 to silence this.", Format))
		p = 4
	}
	d.node.Priority = d.Stated(v, fmt.Sprint(p))
}

// status says how far another executor got. Only completed is taken over: what
// ralph itself does is in its journal.
func (d *decoding) status(v *foreign.Value) {
	w := d.Word(v, "pending", "in_progress", "completed", "failed", "blocked")
	if w == "" {
		return
	}
	d.ext["status"] = w
	if w != "completed" {
		return
	}
	d.node.Done, d.node.DoneBy, d.node.DoneRange = true, "status", d.At(v)
	d.Diags.Add(diag.New("bead-completed", d.At(v), "the bead is completed").
		WithDetail("Its status says that the work is done, so apply does not run it. Write pending, or remove the status, to run it."))
}

func (d *decoding) constraints(v *foreign.Value) {
	if v.Kind != '{' {
		d.Wrong(v, "an object")
		return
	}
	ext := map[string]any{}
	f := d.Fields(v, ext, "max_iterations", "time_budget_minutes", "deadline")
	if len(ext) > 0 {
		d.ext["constraints"] = ext
	}
	if x := f[foreign.Plain("max_iterations")]; x != nil {
		if n, ok := d.Whole(x, 1, maxIterations); ok {
			d.node.Attempts = d.Stated(x, fmt.Sprint(n))
		}
	}
	if x := f[foreign.Plain("time_budget_minutes")]; x != nil {
		if n, ok := d.Whole(x, 1, maxMinutes); ok {
			d.node.Budget = d.Stated(x, fmt.Sprintf("%dm", n))
		}
	}
	if x := f["deadline"]; x != nil {
		t, err := time.Parse(time.RFC3339, strings.ToUpper(x.Text))
		if x.Kind != 's' || err != nil {
			d.Wrong(x, "a time with its zone, such as 2026-01-31T18:00:00Z")
			return
		}
		d.node.Deadline = d.Stated(x, t.Format(time.RFC3339))
	}
}

func (d *decoding) dod(v *foreign.Value) {
	if v.Kind != '{' {
		d.Wrong(v, "an object with verifiers")
		return
	}
	ext := map[string]any{}
	f := d.Fields(v, ext, "verifiers", "evidence_required")
	evidence := false
	if x := f[foreign.Plain("evidence_required")]; x != nil {
		if evidence = x.Truth; x.Kind != 'b' {
			d.Wrong(x, "true or false")
		}
	}
	switch list := f["verifiers"]; {
	case list == nil:
		d.Missing(v, "verifiers", "the list of commands that judge the work")
	case list.Kind != '[':
		d.Wrong(list, "a list of verifiers")
	case len(list.Items) == 0:
		d.Diags.Add(diag.New("bead-no-verifier", d.At(list), "nothing judges the work").
			WithDetail("%s is empty, so every attempt would pass. Add a verifier: {\"name\": \"Tests pass\", \"command\": \"make test\"}.", list.Pointer))
	default:
		names := map[string]bool{}
		kept := map[string]any{}
		for _, x := range list.Items {
			d.verifier(x, evidence, names, kept)
		}
		if len(kept) > 0 {
			ext["verifiers"] = kept
		}
	}
	if len(ext) > 0 {
		d.ext["dod"] = ext
	}
}

// verifier makes a command gate of a verifier.
func (d *decoding) verifier(v *foreign.Value, evidence bool, names map[string]bool, kept map[string]any) {
	if v.Kind != '{' {
		d.Wrong(v, "an object with name and command")
		return
	}
	ext := map[string]any{}
	f := d.Fields(v, ext, "name", "command", "expect", "timeout_seconds", "on_failure")
	g := ir.DraftGate{Range: d.At(v), NameRange: d.At(v), Evidence: evidence}
	title := ""
	if x := f["name"]; x != nil {
		title = strings.Join(strings.Fields(d.Text(x, "what the verifier looks at")), " ")
		g.NameRange = d.At(x)
	} else {
		d.Missing(v, "name", "what the verifier looks at, a text")
	}
	if x := f["command"]; x != nil {
		g.Run = strings.TrimRight(strings.ReplaceAll(d.Text(x, "a command for the shell"), "\r\n", "\n"), "\n")
		if PowerShell(g.Run) {
			d.Diags.Add(diag.New("bead-powershell", d.At(x), "the command is written for PowerShell").
				WithDetail("%s is run by sh on Linux and macOS, which cannot read it, so apply refuses it there. Write it for sh, or start PowerShell itself: pwsh -NoProfile -Command '…'.", x.Pointer))
		}
	} else {
		d.Missing(v, "command", "a command for the shell")
	}
	if x := f["expect"]; x != nil {
		d.expect(x, &g.Expect)
	}
	seconds := int64(defaultTimeout)
	g.Timeout = ir.Stated{Range: d.At(v), Strict: true}
	if x := f[foreign.Plain("timeout_seconds")]; x != nil {
		g.Timeout.Range = d.At(x)
		if n, ok := d.Whole(x, 1, maxMinutes*60); ok {
			seconds = n
		}
	}
	g.Timeout.Value = fmt.Sprintf("%ds", seconds)
	g.OnFailure = ir.Stated{Value: "retry", Range: d.At(v), Strict: true} // stop: the later ones do not run
	if x := f[foreign.Plain("on_failure")]; x != nil {
		g.OnFailure.Range = d.At(x)
		if d.Word(x, "stop", "continue", "retry") == "continue" {
			g.OnFailure.Value = "continue"
		}
	}
	g.Name = freeName(names, title)
	if len(ext) > 0 {
		kept[g.Name] = ext
	}
	d.node.Verify = append(d.node.Verify, g)
	if title != "" && g.Run != "" {
		d.node.Acceptance = append(d.node.Acceptance, criterion(title, &g)...)
	}
}

func (d *decoding) expect(v *foreign.Value, e *ir.Expect) {
	if v.Kind != '{' {
		d.Wrong(v, "an object with exit_code, stdout_contains, stderr_contains")
		return
	}
	f := d.Fields(v, nil, "exit_code", "stdout_contains", "stderr_contains")
	if x := f[foreign.Plain("exit_code")]; x != nil {
		if n, ok := d.Whole(x, math.MinInt32, math.MaxInt32); ok {
			e.ExitCode = int(n)
		}
	}
	for name, to := range map[string]*string{"stdout_contains": &e.StdoutContains, "stderr_contains": &e.StderrContains} {
		if x := f[foreign.Plain(name)]; x != nil {
			if *to = x.Text; x.Kind != 's' {
				d.Wrong(x, "a text that the output must contain")
			}
		}
	}
}

// freeName is the slug of a verifier's name, counted up where two are alike.
func freeName(names map[string]bool, title string) string {
	const most = 40
	slug := foreign.Slug(title)
	if len(slug) > most {
		slug = strings.TrimRight(slug[:most], "-")
	}
	if slug == "" {
		slug = "verify"
	}
	name := slug
	for i := 2; names[name]; i++ {
		name = fmt.Sprintf("%s-%d", slug, i)
	}
	names[name] = true
	return name
}

// criterion tells the agent what the verifier asks for.
func criterion(title string, g *ir.DraftGate) []string {
	var asks []string
	if g.Expect.ExitCode != 0 {
		asks = append(asks, fmt.Sprintf("ends with exit code %d", g.Expect.ExitCode))
	}
	if s := g.Expect.StdoutContains; s != "" {
		asks = append(asks, fmt.Sprintf("prints %q", s))
	}
	if s := g.Expect.StderrContains; s != "" {
		asks = append(asks, fmt.Sprintf("writes %q to standard error", s))
	}
	how := ""
	if len(asks) > 0 {
		how = " " + strings.Join(asks, ", ")
	}
	if lines := strings.Split(g.Run, "\n"); len(lines) > 1 {
		out := []string{title + ": the following" + how}
		for _, l := range lines {
			out = append(out, "  "+l)
		}
		return out
	}
	return []string{title + ": `" + g.Run + "`" + how}
}

// finish fills in what follows from the rest.
func (d *decoding) finish() {
	n := &d.node
	name := string(n.ID)
	if name == "" {
		name = foreign.Slug(foreign.Stem(d.File.Name))
		if name == "" || name == "integration" {
			name = "bead"
		}
		n.Key = ir.Key(name)
	}
	if n.Title == "" {
		n.Title, _, _ = strings.Cut(n.Goal, "\n")
		n.Title = clip72(strings.Join(strings.Fields(n.Title), " "))
	}
	raw, err := json.Marshal(d.ext)
	if err != nil {
		panic(fmt.Sprintf("ralphbead: %v", err)) // it was read from JSON
	}
	n.Ext = map[string]json.RawMessage{Format: raw}
	d.draft.Plan, d.draft.Title = d.File.Name, n.Title
	d.draft.Slug = name
	d.draft.Nodes = []ir.DraftNode{*n}
}

func clip72(s string) string {
	if r := []rune(s); len(r) > 72 {
		return strings.TrimSpace(string(r[:71])) + "…"
	}
	return s
}

package ralphbead

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// defaultTimeout is what a verifier without timeout_seconds gets.
const defaultTimeout = 300

func (d *decoding) dod(v *foreign.Value) {
	if !d.Is(v, '{', "an object with verifiers") {
		return
	}
	ext := map[string]json.RawMessage{}
	f := d.Fields(v, ext, "verifiers", "evidence_required", "artifact_paths")
	evidence := d.repository
	if x := f.Get("evidence_required"); x != nil {
		evidence = x.Truth
		d.Is(x, 'b', "true or false")
	}
	d.rule(f.Get("artifact_paths"), ext, "artifact_paths", "Leave these files behind:")
	list := d.Need(v, f, "verifiers", "the list of commands that judge the work")
	switch {
	case !d.Is(list, '[', "a list of verifiers"):
	case len(list.Items) == 0:
		d.Diags.Add(diag.New("bead-no-verifier", d.At(list), "nothing judges the work").
			WithDetail("%s is empty, so every attempt would pass. Add a verifier: {\"name\": \"Tests pass\", \"command\": \"make test\"}.", list.Pointer))
	default:
		names := map[string]bool{}
		kept := map[string]json.RawMessage{}
		for _, x := range list.Items {
			d.verifier(x, evidence, names, kept)
		}
		if len(kept) > 0 {
			ext["verifiers"] = foreign.Raw(kept)
		}
	}
	if len(ext) > 0 {
		d.ext["dod"] = foreign.Raw(ext)
	}
}

// verifier makes a command gate of a verifier.
func (d *decoding) verifier(v *foreign.Value, evidence bool, names map[string]bool, kept map[string]json.RawMessage) {
	if !d.Is(v, '{', "an object with name and command") {
		return
	}
	ext := map[string]json.RawMessage{}
	f := d.Fields(v, ext, "name", "command", "expect", "timeout_seconds", "on_failure")
	g := ir.DraftGate{Range: d.At(v), NameRange: d.At(v), Evidence: evidence}
	title := ""
	if x := f.Get("name"); x != nil {
		title = text.OneLine(d.Text(x, "what the verifier looks at"))
		g.NameRange = d.At(x)
		if title != "" {
			ext["name"] = foreign.Raw(x.Text)
		}
	} else if !d.repository {
		d.Missing(v, "name", "what the verifier looks at, a text")
	}
	x := d.Need(v, f, "command", "a command for the shell")
	g.Run = strings.TrimRight(strings.ReplaceAll(d.Text(x, "a command for the shell"), "\r\n", "\n"), "\n")
	if PowerShell(g.Run) {
		d.Diags.Add(diag.New("bead-powershell", d.At(x), "the command is written for PowerShell").
			WithDetail("%s is run by sh on Linux and macOS, which cannot read it, so apply refuses it there. Write it for sh, or start PowerShell itself: pwsh -NoProfile -Command '…'.", x.Pointer))
	}
	if more := d.expect(f.Get("expect"), &g.Expect); len(more) > 0 {
		ext["expect"] = foreign.Raw(more)
	}
	seconds := int64(defaultTimeout)
	g.Timeout = ir.Stated{Range: d.At(v), Strict: true}
	if x := f.Get("timeout_seconds"); x != nil {
		g.Timeout.Range = d.At(x)
		if n, ok := d.Whole(x, 1, maxMinutes*60); ok {
			seconds = n
		}
	}
	g.Timeout.Value = fmt.Sprintf("%ds", seconds)
	g.OnFailure = ir.Stated{Value: "retry", Range: d.At(v), Strict: true} // stop: the later ones do not run
	if x := f.Get("on_failure"); x != nil {
		g.OnFailure.Range = d.At(x)
		switch d.Word(x, "stop", "continue", "retry") {
		case "continue":
			g.OnFailure.Value = "continue"
		case "retry":
			ext["on_failure"] = foreign.Raw("retry")
		}
	}
	if title == "" {
		title, _, _ = strings.Cut(g.Run, "\n")
	}
	g.Name = freeName(names, title)
	if len(ext) > 0 {
		kept[g.Name] = foreign.Raw(ext)
	}
	d.node.Verify = append(d.node.Verify, g)
	if title != "" && g.Run != "" {
		d.node.Acceptance = append(d.node.Acceptance, criterion(title, &g)...)
	}
}

// expect returns the keys that ralph does not know.
func (d *decoding) expect(v *foreign.Value, e *ir.Expect) map[string]json.RawMessage {
	if !d.Is(v, '{', "an object with exit_code, stdout_contains, stderr_contains") {
		return nil
	}
	more := map[string]json.RawMessage{}
	f := d.Fields(v, more, "exit_code", "stdout_contains", "stderr_contains")
	n, _ := d.Whole(f.Get("exit_code"), math.MinInt32, math.MaxInt32)
	e.ExitCode = int(n)
	for name, to := range map[string]*string{"stdout_contains": &e.StdoutContains, "stderr_contains": &e.StderrContains} {
		if x := f.Get(name); d.Is(x, 's', "a text that the output must contain") {
			*to = x.Text
		}
	}
	return more
}

// freeName is the slug of a verifier's name, counted up where two are alike.
func freeName(names map[string]bool, title string) string {
	const most = 40
	slug := foreign.Slug(title)
	if len(slug) > most {
		slug = strings.TrimRight(slug[:most], "-")
	}
	slug = cmp.Or(slug, "verify")
	return foreign.FreeName(names, slug)
}

// criterion gives the agent the verifier's requirement.
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

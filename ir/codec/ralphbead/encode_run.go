package ralphbead

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// verifierOf is a command gate of the node with what its verifier's object had
// besides.
type verifierOf struct {
	gate  string // in the epic
	short string // without the node's key
	ir.Gate
	own map[string]json.RawMessage
}

// verifiers lists the command gates of the node's steps. Of a bead that was read
// they are its own; what a policy adds belongs to the project.
func (w *writing) verifiers() []verifierOf {
	kept := members(members(w.ext["dod"])["verifiers"])
	var out []verifierOf
	seen := map[string]bool{}
	for i := range w.n.Steps {
		for _, name := range w.n.Steps[i].Gates {
			g := w.e.Gates[name]
			short, ours := strings.CutPrefix(name, string(w.n.Key)+"/")
			if g.Kind != "command" || seen[name] || w.ext != nil && !ours {
				continue
			}
			seen[name] = true
			out = append(out, verifierOf{name, short, g, members(kept[short])})
		}
	}
	return out
}

func (v verifierOf) title() string {
	return cmp.Or(foreign.Text(v.own["name"]), v.short)
}

func (w *writing) dod() foreign.Object {
	old := members(w.ext["dod"])
	list := []foreign.Object{}
	evidence := false
	for _, v := range w.verifiers() {
		evidence = evidence || v.Evidence
		list = append(list, v.object(w.ext == nil))
	}
	w.breach(len(list) == 0, "/dod/verifiers", "must have a command; agents and people judge this one")
	var o foreign.Object
	foreign.Put(&o, "verifiers", list)
	foreign.Put(&o, "evidence_required", evidence)
	o.Add("artifact_paths", old["artifact_paths"])
	o.Rest(old, "verifiers", "artifact_paths")
	return o
}

func (v verifierOf) object(native bool) foreign.Object {
	var o foreign.Object
	if native || v.own["name"] != nil {
		foreign.Put(&o, "name", v.title())
	}
	foreign.Put(&o, "command", v.Run)
	var expect foreign.Object
	foreign.Put(&expect, "exit_code", v.Expect.ExitCode)
	expect.Text("stdout_contains", v.Expect.StdoutContains)
	expect.Text("stderr_contains", v.Expect.StderrContains)
	expect.Rest(members(v.own["expect"]))
	foreign.Put(&o, "expect", expect)
	if v.TimeoutMS > 0 {
		foreign.Put(&o, "timeout_seconds", (v.TimeoutMS+999)/1000)
	}
	switch {
	case v.OnFailure == "continue":
		foreign.Put(&o, "on_failure", "continue")
	case v.own["on_failure"] != nil && v.OnFailure == "retry":
		o.Add("on_failure", v.own["on_failure"])
	default:
		foreign.Put(&o, "on_failure", "stop")
	}
	o.Rest(v.own, "name", "on_failure", "expect")
	return o
}

// ran reports whether ralph did anything to the node.
func (w *writing) ran() bool {
	return len(w.h.Attempts) > 0 || w.h.Status != "pending" && w.h.Status != "ready"
}

// status is where the node is; before ralph has begun, what its file said.
func (w *writing) status() json.RawMessage {
	word := w.h.Words[Format]
	switch {
	case w.ran() && word != "":
		return foreign.Raw(word)
	case w.ext != nil:
		return w.ext["status"]
	case w.n.Done:
		return foreign.Raw("completed")
	}
	return foreign.Raw("pending")
}

// metaKeys are those that meta writes anew once ralph has run the node; what another
// executor wrote there is over then.
var metaKeys = []string{
	"attempt_count", "executor_version", "retry_backoff_seconds", "last_attempt", "verifier_results",
	"last_failure_summary", "failure_reason", "status",
}

func (w *writing) meta() foreign.Object {
	old := members(w.ext["ralph_meta"])
	var o foreign.Object
	if len(w.h.Attempts) == 0 {
		if w.ext != nil {
			o.Rest(old)
		} else {
			foreign.Put(&o, "attempt_count", 0)
			w.backoff(&o)
		}
		return o
	}
	last := w.h.Attempts[len(w.h.Attempts)-1]
	foreign.Put(&o, "attempt_count", len(w.h.Attempts))
	o.Text("executor_version", w.program)
	w.backoff(&o)
	o.Text("last_attempt", stamp(last.Started))
	if w.h.Failure != "" && w.h.Reason != "" {
		foreign.Put(&o, "last_failure_summary", w.h.Reason)
	}
	foreign.Put(&o, "verifier_results", w.results())
	o.Rest(old, metaKeys...)
	return o
}

// backoff is the last wait before it was tried again; before there was one, what
// the first would be.
func (w *writing) backoff(o *foreign.Object) {
	if d := w.h.Backoff; d > 0 {
		foreign.Put(o, "retry_backoff_seconds", int64((d+time.Second-1)/time.Second))
		return
	}
	if s := lists.Find(w.n.Steps, func(s *ir.Step) bool { return s.Access == "write" && s.Retry.InitialMS > 0 }); s != nil {
		foreign.Put(o, "retry_backoff_seconds", (s.Retry.InitialMS+999)/1000)
	}
}

// results are the last verdicts of the verifiers, in their order.
func (w *writing) results() []foreign.Object {
	out := []foreign.Object{}
	for _, v := range w.verifiers() {
		if at, g := w.h.Verdict(v.gate); g != nil {
			o := foreign.Object{foreign.Key("verifier", v.title()), foreign.Key("passed", g.Verdict == "pass")}
			o.Text("timestamp", stamp(g.Ended))
			out = append(out, append(o, foreign.Key("output", g.Message), foreign.Key("attempt", at+1)))
		}
	}
	return out
}

// stamp is "" for an unknown time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

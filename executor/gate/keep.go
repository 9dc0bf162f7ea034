package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// keep writes a file of the attempt, without secrets, and returns the digest of its
// bytes, in hexadecimal.
func keep(path string, b []byte, redact func(string) string) (string, error) {
	if redact != nil {
		b = []byte(redact(string(b)))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), atomicfile.WriteOwn(path, b, 0o600)
}

// marshal writes JSON for people: indented, and without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// found is what running a gate's command left behind.
type found struct {
	Command        string `json:"command,omitempty"`
	ExitCode       *int   `json:"exit_code,omitempty"`
	Stdout, Stderr string `json:"-"` // files
	env            []string
}

// hidden names variables of ralph's environment that the end of the output speaks of
// and that the command did not get; "" if there are none.
func (f found) hidden() string {
	end, err := tail(f.Stdout, f.Stderr)
	if err != nil {
		return ""
	}
	names := process.Hidden(f.env, end)
	if len(names) == 0 {
		return ""
	}
	name := names[0]
	return fmt.Sprintf("%s is set where ralph runs, and gates do not get it: write secret %q {} into the policy, and secrets = [secret.%s] into the gate.\n", name, name, name)
}

// evidence keeps what was judged and found as success-NAME.json or
// failure-NAME.json (with red- before it, before the work), if the gate asks for it, and returns its digest.
func evidence(r executor.GateRun, out executor.GateJudged, f found) (string, error) {
	if !r.Gate.Evidence {
		return "", nil
	}
	word := "failure"
	if out.Verdict == executor.Pass {
		word = "success"
	}
	outputs, err := f.outputs()
	if err != nil {
		return "", err
	}
	doc := struct {
		Epic    string               `json:"epic"`
		Node    string               `json:"node"`
		Sprint  string               `json:"sprint"`
		Step    string               `json:"step"`
		Attempt int                  `json:"attempt"`
		Gate    string               `json:"gate"`
		Digest  string               `json:"gate_digest"`
		Commit  string               `json:"commit"`
		Verdict executor.Verdict     `json:"verdict"`
		Message string               `json:"message"`
		Again   string               `json:"again,omitempty"`
		Millis  int64                `json:"ms"`
		Counts  *executor.TestCounts `json:"counts,omitempty"`
		Failed  []string             `json:"failed,omitempty"`
		Listed  []string             `json:"listed,omitempty"`
		Agent   string               `json:"agent,omitempty"`
		Model   string               `json:"model,omitempty"`
		Details string               `json:"details,omitempty"`
		found
		Outputs []output `json:"outputs,omitempty"`
	}{
		string(r.Epic), string(r.Node.ID), string(r.Node.Key), r.Effect.Step, r.Effect.Attempt, r.Name, r.Digest, r.Effect.Commit,
		out.Verdict, out.Message, r.Again, out.Millis, out.Counts, out.Failed, r.Listed, out.Agent, out.Model, out.Details, f, outputs,
	}
	b, err := marshal(doc)
	if err != nil {
		return "", err
	}
	if err := regular.MkdirOwn(r.Files); err != nil {
		return "", err
	}
	name := word + "-" + text.FileName(r.Name) + ".json"
	if r.Effect.Kind == executor.EffectRed {
		name = "red-" + name
	}
	return keep(filepath.Join(r.Files, name), b, r.Redact)
}

// clean removes escapes and control characters, so that a message cannot steer a
// terminal.
func clean(s string) string { return process.Plain(s) }

// output is a file of output, as evidence has it.
type output struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
	Tail   string `json:"tail"`
}

func (f found) outputs() (out []output, err error) {
	for _, path := range slices.Compact([]string{f.Stdout, f.Stderr}) {
		if path == "" {
			continue
		}
		o := output{File: filepath.Base(path)}
		if o.Digest, o.Bytes, err = digestOf(path); err == nil {
			o.Tail, err = process.Tail(path, 4000)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// digestOf returns the digest and the size of a file.
func digestOf(path string) (string, int64, error) {
	f, err := regular.OpenOwn(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

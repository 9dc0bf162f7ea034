package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Bounds of what a history holds of files and diffs, in bytes.
const (
	mostRead     = 1 << 20  // of a file
	mostResponse = 32 << 10 // end of an agent's output
	mostDiff     = 64 << 10 // of a file of an attempt
	mostDiffs    = 4 << 20  // of an attempt
)

// readFiles fills in the contents of an attempt's files. Where a file is missing, the
// journal's data stays.
func (h *Historian) readFiles(out *ir.Attempt, dir string, a machine.AttemptLog) {
	if a.Turn != "" {
		base := filepath.Join(dir, a.Turn)
		out.Prompt = h.redact.String(string(readKept(base + runner.PromptExt)))
		if said, err := process.Tail(base+runner.OutExt, mostResponse); err == nil && strings.TrimSpace(said) != "" {
			out.Response = h.redact.String(strings.TrimSpace(said))
		}
		if b := readKept(base + ".outcome.json"); json.Valid(b) && !a.Outcome.None() && a.Outcome.Invalid == "" {
			out.Outcome = h.redact.Bytes(b)
		}
	}
	if b := readKept(filepath.Join(dir, "changes.json")); b != nil {
		var all []executor.FileChange
		if json.Unmarshal(b, &all) == nil {
			out.Files = changesOf(all)
		}
	}
	for i := range out.Gates {
		g := &out.Gates[i]
		if g.Counts != nil {
			g.Results = h.readTests(filepath.Join(dir, "gate-"+text.FileName(g.Gate)+".tests.jsonl"), *g.Counts)
		}
		if a.Gates[i].Details == "" {
			continue
		}
		b := readKept(filepath.Join(dir, "gate-"+text.FileName(g.Gate)+".json"))
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) == a.Gates[i].Details && json.Valid(b) {
			g.Details = json.RawMessage(bytes.TrimSpace(b))
		}
	}
}

func changesOf(list []executor.FileChange) []ir.FileChange {
	return lists.Map(list, func(f executor.FileChange) ir.FileChange {
		return ir.FileChange{Path: f.Path, From: f.From, Type: f.Type, Added: f.Added, Removed: f.Removed}
	})
}

// readTests reads the results of a gate's tests; nil if the file is missing or belongs to
// another verdict of the gate.
func (h *Historian) readTests(path string, want ir.TestCounts) []ir.TestResult {
	var out []ir.TestResult
	var got ir.TestCounts
	for line := range bytes.Lines(readKept(path)) {
		var t struct {
			Name   string  `json:"name"`
			State  string  `json:"state"`
			Millis float64 `json:"ms"`
			Output string  `json:"output"`
		}
		if json.Unmarshal(line, &t) != nil {
			return nil
		}
		switch t.State {
		case "pass":
			got.Passed++
		case "fail":
			got.Failed++
		default:
			got.Skipped++
		}
		out = append(out, ir.TestResult{Name: t.Name, State: t.State, Output: h.redact.String(t.Output), Millis: int64(t.Millis)})
	}
	if got != want {
		return nil
	}
	return out
}

// readKept reads a regular file of an attempt; nil if it is missing or too large.
func readKept(path string) []byte {
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() || st.Size() > mostRead {
		return nil
	}
	b, err := regular.ReadOwn(path)
	if err != nil {
		return nil
	}
	return b
}

// readDiffs fills in the diff of each file, if the commits still exist and the diff is not
// too large.
func (h *Historian) readDiffs(ctx context.Context, out *ir.Attempt, a machine.AttemptLog) {
	if a.From == "" || a.Commit == "" || a.From == a.Commit {
		return
	}
	all := Bounded{Most: mostDiffs}
	if err := h.Space.Diff(ctx, a.From, a.Commit, &all); err != nil && !errors.Is(err, errFull) && !all.Full {
		return
	}
	parts := splitDiff(string(all.Bytes()))
	if all.Full && len(parts) > 0 {
		parts = parts[:len(parts)-1] // it was cut
	}
	byPath := lists.Table(parts, func(p diffPart) (string, string) { return p.path, p.text })
	for f := range lists.Refs(out.Files) {
		if d := byPath[f.Path]; len(d) <= mostDiff {
			f.Diff = h.redact.String(d)
		}
	}
}

// Bounded keeps at most Most bytes. Its buffer is not embedded: the methods of that, such as
// WriteString, know no limit.
type Bounded struct {
	Most int
	Full bool
	kept bytes.Buffer
}

var errFull = errors.New("it is longer than what is kept")

// Write appends p. If p does not fit, nothing of it is written, Full is set and an error is
// returned.
func (b *Bounded) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.Most {
		b.Full = true
		return 0, errFull
	}
	return b.kept.Write(p)
}

// Bytes is what is kept. It is not to be changed.
func (b *Bounded) Bytes() []byte { return b.kept.Bytes() }

type diffPart struct{ path, text string }

// splitDiff cuts a unified diff of git into those of its files.
func splitDiff(all string) []diffPart {
	var out []diffPart
	const head = "diff --git "
	for all != "" {
		end := len(all)
		if i := strings.Index(all[1:], "\n"+head); i >= 0 {
			end = i + 2
		}
		part := all[:end]
		all = all[end:]
		if strings.HasPrefix(part, head) {
			out = append(out, diffPart{diffPath(part), part})
		}
	}
	return out
}

// diffPath is a file's path after the change; before it, if the file was deleted.
func diffPath(part string) string {
	first, rest, _ := strings.Cut(part, "\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "GIT binary patch") {
			break
		}
		if to, ok := strings.CutPrefix(line, "rename to "); ok {
			return unquoted(to)
		}
	}
	// "a/PATH b/PATH": the two are equal, so the second begins in the middle.
	names := strings.TrimPrefix(first, "diff --git ")
	half := len(names) / 2
	if half+1 > len(names) {
		return ""
	}
	return strings.TrimPrefix(unquoted(names[half+1:]), "b/")
}

// unquoted undoes how git writes names with special characters.
func unquoted(name string) string {
	if strings.HasPrefix(name, `"`) {
		if s, err := strconv.Unquote(name); err == nil {
			return s
		}
	}
	return strings.TrimSuffix(name, "\t")
}

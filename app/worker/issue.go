package worker

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// stateOf is the directory of a run, by the epic.json that is kept in it.
func stateOf(file string) string { return filepath.Dir(file) }

// standing are the keys of an issue that say where its work is and what it hangs
// together with. They are no part of what is to be done: what it waited for is over, and
// the base holds the results.
var standing = []string{
	"_type", "status", "assignee", "created_at", "created_by", "updated_at", "started_at", "closed_at", "close_reason", "closed_by_session", "defer_until",
	"external_ref", "dependencies", "dependents", "parent", "dependency_count", "dependent_count", "comment_count", "comments", "revision", "content_hash",
}

// issueDraft reads an issue as a draft of one node whose id is the issue's, by way of
// the codec of bd. start is the step that it begins at, "" the first; words are the
// labels of the policy.
func issueDraft(i bd.Issue, start string, words bdcodec.Labels) (compiler.Imported, error) {
	src, err := issueText(i)
	if err != nil {
		return compiler.Imported{}, fmt.Errorf("issue %s: %w", i.ID, err)
	}
	file := diag.NewFile(".beads/"+i.ID+".json", src)
	out := compiler.Imported{Sources: []compiler.Source{{Path: file.Name, Bytes: src}}}
	if out.Draft, out.Diags = bdcodec.Decode([]*diag.File{file}); out.Draft == nil {
		return out, nil
	}
	n := &out.Draft.Nodes[0]
	out.Draft.Title, out.Draft.Range = n.Title, n.Range
	n.Start = ir.Stated{} // the worker says where it begins
	n.Labels = slices.DeleteFunc(n.Labels, func(l string) bool { return isStanding(l, words) })
	if start != "" {
		at := n.Range
		if k := strings.Index(string(src), "\n  \"labels\": "); k >= 0 {
			at = file.Range(k+len("\n  "), k+len("\n  \"labels\""))
		}
		n.Start = ir.Stated{Value: start, Range: at, Strict: true}
	}
	return out, nil
}

// issueText is what an issue says, as a file.
func issueText(i bd.Issue) ([]byte, error) {
	row := map[string]json.RawMessage{}
	raw := i.Raw
	if raw == nil {
		var err error
		if raw, err = json.Marshal(i); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return nil, err
	}
	for _, k := range standing {
		delete(row, k)
	}
	meta := map[string]json.RawMessage{}
	if json.Unmarshal(row["metadata"], &meta) == nil {
		for _, k := range bd.IssueKeys {
			delete(meta, k)
		}
		if row["metadata"], _ = json.Marshal(meta); len(meta) == 0 { // it was JSON
			delete(row, "metadata")
		}
	}
	return json.MarshalIndent(row, "", "  ")
}

// isStanding reports whether a label says where an issue is.
func isStanding(label string, words bdcodec.Labels) bool {
	return strings.HasPrefix(label, bd.PhasePrefix) || label == words.Needs || label == words.Approved || label == words.Changes
}

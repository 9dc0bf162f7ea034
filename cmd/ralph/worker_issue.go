package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
)

// stateOf is the directory of a run, by the epic.json that is kept in it.
func stateOf(file string) string { return filepath.Dir(file) }

// issueDraft reads an issue as a draft of one node whose id is the issue's. start is
// the step that it begins at, "" the first. What it waited for is over, and its edges
// are left out: the base holds the results.
func issueDraft(i bd.Issue, start string) (compiler.Imported, error) {
	path := ".beads/" + i.ID + ".json"
	src, err := json.MarshalIndent(map[string]any{
		"id": i.ID, "title": i.Title, "description": i.Description, "acceptance_criteria": i.Acceptance,
		"priority": i.Priority, "issue_type": i.Type, "labels": i.Labels,
	}, "", "  ")
	if err != nil {
		return compiler.Imported{}, err
	}
	at := func(key string) diag.Range {
		if k := strings.Index(string(src), "\n  "+`"`+key+`": `); k >= 0 {
			k += len("\n  ")
			return diag.Range{File: path, Start: k, End: k + len(key) + 2}
		}
		return diag.Range{File: path, Start: 0, End: 1}
	}
	n := ir.DraftNode{
		ID: ir.NodeID(i.ID), IDRange: at("id"), Key: ir.Key(i.ID), KeyRange: at("id"), Range: at("title"), Word: "Issue", Kind: ir.Work,
		Title: strings.Join(strings.Fields(i.Title), " "), PhaseIndex: -1, Goal: strings.TrimSpace(lineEnds(i.Description)),
		Priority: ir.Stated{Value: fmt.Sprint(i.Priority), Range: at("priority")},
		Type:     ir.Stated{Value: i.Type, Range: at("issue_type")},
	}
	if i.Type == "" {
		n.Type = ir.Stated{}
	}
	for line := range strings.Lines(lineEnds(i.Acceptance)) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
			n.Acceptance = append(n.Acceptance, line)
		}
	}
	if n.Goal == "" {
		n.Goal = n.Title
	}
	for _, l := range i.Labels {
		if !strings.HasPrefix(l, bd.PhasePrefix) && !strings.HasPrefix(l, "human:") && l != needsApproval {
			n.Labels = append(n.Labels, l)
		}
	}
	if start != "" {
		n.Start = ir.Stated{Value: start, Range: at("labels"), Strict: true}
	}
	return compiler.Imported{
		Sources: []compiler.Source{{Path: path, Bytes: src}},
		Draft:   &ir.Draft{Plan: path, Slug: i.ID, Title: n.Title, Range: n.Range, Nodes: []ir.DraftNode{n}},
	}, nil
}

func lineEnds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

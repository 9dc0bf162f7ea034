// Package graphjson writes the graph of an epic as JSON for other programs:
// nodes, edges and the static numbers, without prompts and policy.
//
// In: an ir.Epic that ir.Verify accepts. Out: indented JSON, deterministic. It
// does no I/O. It imports only ir; app calls it.
package graphjson

import (
	"bytes"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Graph is the document. No array in it is null.
type Graph struct {
	Epic  string   `json:"epic"` // slug
	Title string   `json:"title"`
	Nodes []Node   `json:"nodes"`
	Edges []Edge   `json:"edges"`
	Stats ir.Stats `json:"stats"`
}

// Node is a node without its agents' prompts.
type Node struct {
	ID         ir.NodeID `json:"id"`
	Key        ir.Key    `json:"key"`
	Kind       ir.Kind   `json:"kind"`
	Title      string    `json:"title"`
	Phase      string    `json:"phase"`
	Lane       string    `json:"lane"`
	Complexity string    `json:"complexity"`
	Done       bool      `json:"done"`
	Human      bool      `json:"human"` // a person approves or does it
	Wave       int       `json:"wave"`  // from 1
	Critical   bool      `json:"critical"`
}

// Edge leads from what is waited for to who waits.
type Edge struct {
	From   ir.Key      `json:"from"`
	To     ir.Key      `json:"to"`
	Type   ir.EdgeType `json:"type"`
	Origin string      `json:"origin"` // the rule that made it: number, explicit, …
}

// Write returns the graph of e as JSON.
func Write(e *ir.Epic) ([]byte, error) {
	g := Graph{Epic: e.Epic.Slug, Title: e.Epic.Title, Nodes: []Node{}, Edges: []Edge{}, Stats: e.Stats()}
	wave := map[ir.Key]int{}
	for i, keys := range g.Stats.Waves {
		for _, k := range keys {
			wave[k] = i + 1
		}
	}
	critical := lists.Set(g.Stats.Critical)
	for _, n := range lists.Each(e.Nodes) {
		g.Nodes = append(g.Nodes, Node{
			ID: n.ID, Key: n.Key, Kind: n.Kind, Title: n.Title, Phase: n.Phase, Lane: n.Lane,
			Complexity: n.Complexity.Level, Done: n.Done, Wave: wave[n.Key], Critical: critical[n.Key],
			Human: n.Kind == ir.Manual || len(e.HumanGates(n)) > 0,
		})
		for _, a := range n.After {
			g.Edges = append(g.Edges, Edge{From: a.Key, To: n.Key, Type: a.Type, Origin: a.From})
		}
	}
	var b bytes.Buffer
	err := foreign.Write(&b, g)
	return b.Bytes(), err
}

package bd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// ProposalLabel marks a bead that an agent proposed.
const ProposalLabel = "ralph-proposal"

// maxTitle is the longest title that bd takes, in bytes.
const maxTitle = 500

// Propose makes a deferred bead of each piece of work that agents found, with the label
// ralph-proposal and, if the node where it was found has a bead, an edge discovered-from
// to that. Nothing works on it before a person opens it: bd update ID -s open. A proposal
// is identified by epic, node and title: one that already has a bead is not written
// again, whatever became of the bead. It returns the ids of the new beads.
func Propose(ctx context.Context, c *Client, epic *ir.Epic, list []machine.Proposed) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	nodes := lists.Table(epic.Nodes, func(n ir.Node) (ir.Key, ir.NodeID) { return n.Key, n.ID })
	var asked []string
	for _, p := range list {
		asked = append(asked, proposalID(epic, nodes[p.Node], p))
		if id := nodes[p.Node]; id != "" {
			asked = append(asked, string(id))
		}
	}
	there, err := c.ByID(ctx, asked...)
	if err != nil {
		return nil, err
	}
	var rows []codec.Row
	var made []string
	for _, p := range list {
		node := nodes[p.Node]
		id := proposalID(epic, node, p)
		if _, known := there[id]; known {
			continue
		}
		there[id] = Issue{ID: id}
		made = append(made, id)
		row := codec.Row{
			ID: id, Title: proposalTitle(p.Title), Description: proposalText(epic, node, p), Type: "task", Status: "deferred", Priority: 2,
			Labels: []string{ProposalLabel}, UpdatedAt: time.Now().UTC().Truncate(time.Second),
		}
		if on, has := there[string(node)]; has {
			row.Priority = on.Priority
			row.Dependencies = []codec.Dependency{{From: id, To: string(node), Type: string(ir.DiscoveredFrom)}}
		}
		rows = append(rows, row)
	}
	if len(made) == 0 {
		return nil, nil
	}
	lines, err := codec.Lines(rows)
	if err == nil {
		_, err = c.Import(ctx, lines, quick)
	}
	return made, err
}

// propose files what agents found in attempts that are over. What bd refuses again
// and again is reported and left.
func (m *Mirror) propose(ctx context.Context) error {
	m.found = false
	list := m.proposed()
	if len(list) == 0 {
		return nil
	}
	err := m.do(ctx, func(ctx context.Context) error {
		made, err := Propose(ctx, m.c, m.epic, list)
		if len(made) > 0 {
			m.report("bd: agents propose %s (deferred: bd show ID, bd update ID -s open)", strings.Join(made, ", "))
		}
		return err
	})
	if no, ok := errors.AsType[*Refused](err); ok && no.Exit > 0 {
		if m.unfound++; m.unfound >= attempts {
			m.report("bd refuses what agents propose: %v. It is not tried again before the next attempt ends", err)
			m.unfound = 0
			return nil
		}
	}
	m.found = m.found || err != nil // an attempt may have ended meanwhile
	return err
}

// proposed is what agents found in attempts that are over.
func (m *Mirror) proposed() (list []machine.Proposed) {
	running := map[ir.Key]bool{}
	for _, v := range m.run.Views() {
		if n := len(v.Attempts); n > 0 && v.Attempts[n-1].Status == executor.AttemptRunning {
			running[v.Key] = true
		}
	}
	return lists.Keep(m.run.Overview().Proposals, func(p machine.Proposed) bool { return !running[p.Node] })
}

// proposalID is the same for the same title at the same node, in other case or
// spacing too. It has a fixed width, so that none is the beginning of another.
func proposalID(epic *ir.Epic, node ir.NodeID, p machine.Proposed) string {
	prefix := "bd"
	if t := epic.Run.Tracker; t != nil {
		prefix = cmp.Or(t.Prefix, prefix)
	}
	title := strings.ToLower(text.OneLine(p.Title))
	sum := sha256.Sum256([]byte(string(epic.Epic.ID) + "\x00" + string(node) + "\x00" + title))
	return prefix + "-p" + hex.EncodeToString(sum[:5])
}

func proposalTitle(title string) string {
	return text.Head(cmp.Or(text.OneLine(strings.ToValidUTF8(title, "")), "(without a title)"), maxTitle)
}

func proposalText(epic *ir.Epic, node ir.NodeID, p machine.Proposed) string {
	var b strings.Builder
	if text := strings.TrimSpace(p.Text); text != "" {
		b.WriteString(text + "\n\n")
	}
	fmt.Fprintf(&b, "%s proposed this at %s of %s", cmp.Or(p.Agent, "An agent"), p.Node, epic.Epic.Title)
	if node != "" && string(node) != string(p.Node) {
		fmt.Fprintf(&b, " (%s)", node)
	}
	b.WriteString(".")
	return b.String()
}

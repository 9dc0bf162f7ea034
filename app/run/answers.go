package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// NotTaken explains why a decision was not applied: as an error, unless the requested state
// already holds. It adds the names of node and epic, which the machine does not know.
func NotTaken(file, key string, err error) (said string, _ error) {
	var no *executor.Refused
	if !errors.As(err, &no) {
		return "", err
	}
	if no.Already {
		return reveal.Words(no.Why) + "\n", nil
	}
	why := no.Error()
	if key != "" {
		why = strings.ReplaceAll(why, " KEY", " "+words.QuoteArg(key))
	}
	why, hint, _ := strings.Cut(why, "\n")
	if hint != "" {
		why += "\n" + naming(file, hint)
	}
	return "", exit.Inputf("%s", why)
}

// notTaken is NotTaken, with what to type where the requested state already holds.
func (t *Desk) notTaken(file, key string, d executor.Decision, held bool, err error) (Said, error) {
	already, err := NotTaken(file, key, err)
	if err != nil {
		return Said{}, err
	}
	return t.said(already, file, d, held), nil
}

// said is an answer, with what to type next where nothing runs.
func (t *Desk) said(what, file string, d executor.Decision, held bool) Said {
	out := Said{Text: what, Held: held}
	if !held {
		out.Next = t.afterwards(file, d)
	}
	return out
}

// typed is a command of ralph's in a text: its verb, and what follows that no prose is.
var typed = lazyregexp.New(`\bralph ([a-z]+)((?: (?:-[\w-]+|TEXT|integration|"[^"]*"|\S*[0-9=]\S*))*)`)

// naming adds to each command of a hint what names the epic: without it the command would
// be about epic.json.
func naming(file, hint string) string {
	return typed.ReplaceAllStringFunc(hint, func(command string) string {
		if strings.HasPrefix(command, "ralph apply") || strings.HasPrefix(command, "ralph plan") {
			return command + record.Applies(file)
		}
		return command + record.AboutEpic(file)
	})
}

// decided describes the decision.
func decided(key string, d executor.Decision) string {
	subject := key
	if subject == "" {
		subject = "the run"
		if d.Verb == executor.Approve {
			subject = "the plan"
		}
		if d.How == executor.Baseline {
			subject = "the base"
		}
		if d.Tamper != "" {
			subject = "change " + d.Tamper
		}
	}
	words := map[executor.Verb]string{
		executor.Approve: "approved", executor.Reject: "rejected", executor.RetryNode: "to be tried again", executor.Skip: "skipped",
		executor.Pause: "paused", executor.Resume: "resumed", executor.Cancel: "cancelled",
	}
	out := subject + ": " + words[d.Verb]
	switch {
	case d.How == executor.GatesOnly:
		out = subject + ": its gates will judge what is in the worktree"
	case d.How == executor.KeepOld:
		out = subject + ": the earlier success counts again"
	case d.How != "":
		out += " (--" + string(d.How) + ")"
	}
	if d.Gate != "" {
		out += ", gate " + d.Gate
	}
	if d.Result != "" {
		out += fmt.Sprintf(", tree %.12s", d.Result)
	}
	if d.By != d.User {
		out += ", as " + d.By
	}
	return reveal.Words(out)
}

// outdated refuses a decision about what epic.json has changed since the last run: the next one
// starts it again, and would have no use for it.
func (t *Desk) outdated(node ir.NodeID, d executor.Decision) error {
	about := d.Verb == executor.Approve || d.Verb == executor.Reject || d.Verb == executor.RetryNode && d.How != executor.KeepOld
	v, known := t.Run.View(node)
	if !t.Changed || !about || !known || v.Status != executor.Waiting || v.Cause == executor.CauseHeld {
		return nil
	}
	now := slices.IndexFunc(t.Given.Nodes, func(n ir.Node) bool { return n.ID == node })
	was := slices.IndexFunc(t.Epic.Nodes, func(n ir.Node) bool { return n.ID == node })
	if now < 0 || was < 0 || t.Given.Nodes[now].Digest.Work == t.Epic.Nodes[was].Digest.Work {
		return nil
	}
	return &executor.Refused{Why: fmt.Sprintf("epic.json has changed %s since the last run", v.Key), Hint: "the next ralph apply starts it again; decide then"}
}

// unchanged says that a manual sprint was approved without any work in git.
func (t *Desk) unchanged(ctx context.Context, node ir.NodeID, d executor.Decision) (string, error) {
	manual := slices.ContainsFunc(t.Epic.Nodes, func(n ir.Node) bool { return n.ID == node && n.Kind == ir.Manual })
	if d.Verb != executor.Approve || !manual || d.Base == "" {
		return "", nil
	}
	if changed, err := t.Space.Trees.OwnChanges(ctx, node, d.Base); err != nil || changed {
		return "", err
	}
	return "  nothing was changed in its worktree or on its branch: the approval means that it is done as it is\n", nil
}

// afterwards is what to type next, while nothing runs.
func (t *Desk) afterwards(file string, d executor.Decision) string {
	switch {
	case d.Verb == executor.Pause, d.Verb == executor.Cancel, record.IsDraft(t.Epic) && record.ApprovesDraft(d):
		return ""
	}
	rebase := ""
	if d.How == executor.Baseline && t.moving {
		rebase = " --rebase"
	}
	return "ralph apply" + record.Applies(file) + rebase
}

// unread names the decision that a run found although it was made for another run.
func unread(l executor.Letter, key string, no *executor.Refused) string {
	what := strings.TrimRight(fmt.Sprintf("%s %s", l.Decision.Verb, key), " ")
	if m := l.Decision.Message; m != "" {
		what += fmt.Sprintf(" (%s)", text.Head(m, 100))
	}
	return fmt.Sprintf("%s by %s: %s", what, l.Decision.By, no.Error())
}

package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Warnings lists possible surprises: work that counts as done but may be missing. They do
// not stop a run.
func Warnings(ctx context.Context, epic *ir.Epic, space *workspace.Space, run *machine.Run, base executor.Tree) []string {
	out := lists.Map(project.AlsoPlanned(space), func(c workspace.Clash) string {
		return fmt.Sprintf("%s. What to do: %s.", c.What, strings.Join(c.Ways, "; or "))
	})
	out = append(out, lists.Map(space.Checkout.Locks(ctx), LockWords)...)
	at, err := space.Bases.Moved(ctx)
	if err != nil || at == "" {
		return out
	}
	var done []string
	for i := range epic.Nodes {
		if n := &epic.Nodes[i]; n.Done && !run.Node(n.ID).Succeeded() {
			done = append(done, string(n.Key))
		}
	}
	if len(done) > 0 {
		out = append(out, fmt.Sprintf("done by the plan: %s. Their work may not be in the base of this run, which the first apply pinned at %.12s; the branch is at %.12s now: ralph plan --rebase, ralph apply --rebase.", words.ListOf(done), base.Commit, at))
	}
	return out
}

// LockWords says what a lock in the user's repository blocks, and what to do.
func LockWords(lock string) string {
	what := "git config"
	if strings.HasSuffix(lock, "packed-refs.lock") {
		what = "git branch -d"
	}
	return fmt.Sprintf("%s was left by a killed git, unless one is running: it makes each `%s` in your repository fail, also for agents that run it in a linked worktree. When no git runs: rm %s", lock, what, words.QuotePath(lock))
}

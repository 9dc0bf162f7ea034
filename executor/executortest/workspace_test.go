package executortest

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func TestTheFakeWorkspaceKeepsTheContract(t *testing.T) {
	WorkspaceContract(t, NewWorkspace("bd-epic"), executor.Tree{Commit: "base", Tree: "tree-base"}, func(*testing.T, ir.NodeID, string) {})
}

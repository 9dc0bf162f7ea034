package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// roleVar makes this program something else than the tests, as a process of its own.
const roleVar = "RALPH_MCP_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "proxy":
		if err := Proxy(context.Background(), os.Stdin, os.Stdout, os.Args[len(os.Args)-1], os.Getenv(URLVar), os.Getenv(TokenVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "server": // one turn with files in $2 that ends with standard input, or is killed
		r := executor.AgentRun{Node: &ir.Node{Key: "1.1"}, Step: &ir.Step{Name: "implement"}, Effect: executor.Effect{Attempt: 1}, Files: os.Args[len(os.Args)-1]}
		_, err := Serve(&Server{}, fake(func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			if err := json.NewEncoder(os.Stdout).Encode(r.Tools); err != nil {
				return executor.AgentEnded{}, err
			}
			_, err := os.Stdin.Read(make([]byte, 1))
			return executor.AgentEnded{}, err
		})).Run(context.Background(), r)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	default:
		os.Exit(m.Run())
	}
}

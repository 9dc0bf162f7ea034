package local_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestTheOutputOfACutTurnIsKept(t *testing.T) { // execution §3 "nothing of value is thrown away"
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executortest.Epic([]string{"1.1"}))
		dir, turns := "", 0
		b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
			turns++
			dir = r.Files
			if err := os.MkdirAll(r.Files, 0o700); err != nil {
				return executor.AgentEnded{}, err
			}
			for _, ext := range []string{".out", ".stream.jsonl"} {
				if err := os.WriteFile(filepath.Join(r.Files, r.Turn()+ext), []byte{'0' + byte(turns)}, 0o600); err != nil {
					return executor.AgentEnded{}, err
				}
			}
			if turns < 3 {
				return executor.AgentEnded{}, &executor.Failure{Class: executor.FailCrash, Err: errors.New("killed")}
			}
			return executortest.Success(), nil
		}
		if _, err := b.apply(); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, name := range []string{"cut-1-agent-1", "cut-2-agent-1", "agent-1"} {
			for _, ext := range []string{".out", ".stream.jsonl"} {
				text, err := os.ReadFile(filepath.Join(dir, name+ext))
				if err != nil {
					t.Error(err)
				}
				got[name] += string(text)
			}
		}
		if want := map[string]string{"cut-1-agent-1": "11", "cut-2-agent-1": "22", "agent-1": "33"}; !maps.Equal(got, want) {
			t.Errorf("kept %v, want %v", got, want)
		}
	})
}

package runnertest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// smallVar holds the base URL of the small agent's model.
const smallVar = "RUNNERTEST_SMALL_MODEL"

// small is a small agent: it asks its model, calls the tools that the model names,
// and prints what it is told.
func small(base string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	messages := []any{message{"role": "system", "content": "You are small."}, message{"role": "user", "content": string(prompt)}}
	for {
		said, status, err := ask(base, messages)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, err)
			return 1
		case status == http.StatusTooManyRequests:
			fmt.Fprintln(os.Stderr, "error: rate limit reached")
			return 1
		case status != http.StatusOK:
			fmt.Fprintln(os.Stderr, "error: status", status)
			return 1
		}
		if said.Content != "" {
			fmt.Println(said.Content)
		}
		if len(said.Calls) == 0 {
			return 0
		}
		messages = append(messages, said)
		for _, c := range said.Calls {
			out := use(c.Function.Name, c.Function.Arguments)
			fmt.Println(out)
			messages = append(messages, message{"role": "tool", "tool_call_id": c.ID, "content": out})
		}
	}
}

type message map[string]any

type reply struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls,omitempty"`
}

func ask(base string, messages []any) (reply, int, error) {
	var tools []message
	for _, name := range []string{"bash", "write", "report_outcome"} {
		tools = append(tools, message{"type": "function", "function": message{"name": name}})
	}
	dir, _ := os.Getwd()
	messages[0].(message)["content"] = "You are small.\nWorking directory: " + dir
	body, err := json.Marshal(message{"model": "m1", "messages": messages, "tools": tools})
	if err != nil {
		return reply{}, 0, err
	}
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return reply{}, 0, err
	}
	defer resp.Body.Close()
	var out struct{ Choices []struct{ Message reply } }
	if resp.StatusCode != http.StatusOK {
		return reply{}, resp.StatusCode, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || len(out.Choices) != 1 {
		return reply{}, 0, fmt.Errorf("the model's answer cannot be read: %w", err)
	}
	return out.Choices[0].Message, http.StatusOK, nil
}

// use calls a tool and says what it answered.
func use(name, args string) string {
	var a struct{ Command, FilePath, Content string }
	if err := json.Unmarshal([]byte(args), &a); err != nil {
		return err.Error()
	}
	switch name {
	case "bash":
		out, err := exec.Command("bash", "-c", a.Command).CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%s%v", out, err)
		}
		return string(out)
	case "write":
		if err := os.MkdirAll(filepath.Dir(a.FilePath), 0o700); err != nil {
			return err.Error()
		}
		if err := os.WriteFile(a.FilePath, []byte(a.Content), 0o600); err != nil {
			return err.Error()
		}
		return "Written."
	case "report_outcome":
		if err := os.WriteFile(os.Getenv("RALPH_OUTCOME"), []byte(args), 0o600); err != nil {
			return err.Error()
		}
		return "Recorded."
	}
	return "There is no tool " + name + "."
}

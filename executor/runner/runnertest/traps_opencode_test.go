package runnertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// openCode is a server of OpenCode.
type openCode struct {
	at  string // its address
	dir string
}

// call asks the server; what comes back is decoded into v, if v is not nil.
func (o openCode) call(t *testing.T, method, path string, body, v any) (status int) {
	t.Helper()
	at := o.at + path
	if strings.Contains(path, "?") {
		at += "&"
	} else {
		at += "?"
	}
	req, err := http.NewRequestWithContext(t.Context(), method, at+"directory="+url.QueryEscape(o.dir), bytes.NewReader(marshal(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("opencode", "secret")
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if v != nil && resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, b)
		}
	}
	return resp.StatusCode
}

// session makes a session; without rules it asks a person.
func (o openCode) session(t *testing.T) string {
	t.Helper()
	var s struct{ ID string }
	if status := o.call(t, http.MethodPost, "/session", obj{"title": "t"}, &s); status != http.StatusOK || s.ID == "" {
		t.Fatalf("make a session: status %d", status)
	}
	return s.ID
}

func prompt(model, text string) obj {
	return obj{"model": obj{"providerID": "scripted", "modelID": model}, "parts": []obj{{"type": "text", "text": text}}}
}

// One server serves all traps: it takes 5 s of a processor to start.
func TestRealOpenCodeTraps(t *testing.T) {
	k := setTrap(t, "opencode",
		modeltest.Rule{Match: "judge", Steps: steps{do(modeltest.Call("StructuredOutput", obj{"verdict": "maybe"})), {Text: "Done."}}},
		modeltest.Rule{Match: "outside", Steps: steps{do(modeltest.Bash("cat /etc/hostname"), modeltest.Write("/nowhere/at/all.txt", "x")), {Text: "Done."}}},
		hello,
	)
	k.env = append(k.env, "OPENCODE_SERVER_PASSWORD=secret", "OPENCODE_CONFIG_CONTENT="+string(marshal(obj{
		"autoupdate": false, "share": "disabled", "enabled_providers": []string{"scripted"},
		"provider": obj{"scripted": obj{"npm": "@ai-sdk/openai-compatible", "options": obj{"baseURL": k.base + "/v1", "apiKey": "dummy"}, "models": obj{"m1": obj{"name": "m1", "tool_call": true}}}},
	})))
	cmd := k.command(t, "serve", "--hostname", "127.0.0.1", "--port", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() }()
	o := openCode{dir: k.dir}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			o.at = strings.TrimSpace(at)
			break
		}
	}
	if o.at == "" {
		t.Fatal("the server does not say where it listens")
	}

	t.Run("a schema is not held to, and then the messages cannot be read", func(t *testing.T) {
		id := o.session(t)
		body := prompt("m1", "Please judge.")
		body["format"] = obj{"type": "json_schema", "schema": obj{"type": "object", "required": []string{"verdict"}, "properties": obj{"verdict": obj{"type": "string", "enum": []string{"pass", "fail"}}}}}
		var answer struct {
			Info struct {
				Structured map[string]any `json:"structured"`
			} `json:"info"`
		}
		status := o.call(t, http.MethodPost, "/session/"+id+"/message", body, &answer)
		if status != http.StatusOK || answer.Info.Structured["verdict"] != "maybe" {
			t.Errorf("status %d, %v: the schema is held to", status, answer.Info.Structured)
		}
		if status := o.call(t, http.MethodGet, "/session/"+id+"/message", nil, nil); status != http.StatusBadRequest {
			t.Errorf("status %d: a session can be read again after structured output", status)
		}
	})
	t.Run("an unknown model is no error of the request", func(t *testing.T) {
		id := o.session(t)
		if status := o.call(t, http.MethodPost, "/session/"+id+"/prompt_async", prompt("nothing", "Hi."), nil); status != http.StatusNoContent {
			t.Errorf("status %d: it need not be looked for in the stream", status)
		}
	})
	t.Run("without rules a session waits for a person", func(t *testing.T) {
		id := o.session(t)
		if status := o.call(t, http.MethodPost, "/session/"+id+"/prompt_async", prompt("m1", "Write outside."), nil); status != http.StatusNoContent {
			t.Fatalf("status %d", status)
		}
		eventually(t, "it asks", func() (bool, string) {
			var asked []struct {
				SessionID string `json:"sessionID"`
			}
			o.call(t, http.MethodGet, "/permission", nil, &asked)
			return len(asked) > 0 && asked[0].SessionID == id, "nobody is asked: the rules of sessions may go"
		})
	})
}

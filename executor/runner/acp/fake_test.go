package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/ir"
)

// TestMain is also the program that the tests run: it speaks ACP in raw lines, and
// does what FAKE_ACP says.
func TestMain(m *testing.M) {
	if what := os.Getenv("FAKE_ACP"); what != "" {
		newFake().serve(scenes[what])
		return
	}
	runnertest.Main(m, openCode)
}

// fake is a program that speaks ACP.
type fake struct {
	in      *bufio.Scanner
	mu      sync.Mutex // guards the rest
	out     *bufio.Writer
	prompts chan frame // session/prompt
	replies chan frame // answers to the fake's own requests
	cancels chan frame
	next    int
}

type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string            `json:"sessionId"`
		Prompt  []json.RawMessage `json:"prompt"`
		Servers []json.RawMessage `json:"mcpServers"`
		Config  string            `json:"configId"`
		Value   string            `json:"value"`
		Mode    string            `json:"modeId"`
		Model   string            `json:"modelId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

// scene is what a fake does.
type scene struct {
	hello   string // its answer to initialize, instead of the usual one
	first   func(f *fake)
	refuse  map[string]string // method → error
	opened  string            // its answer to session/new, without the id
	replay  func(f *fake)     // before it answers session/load or session/fork
	turn    func(f *fake, prompt frame)
	lingers bool // it ends its turn when its input ends
	deaf    bool // it goes on when its input ends
	sleeper bool // it does not answer initialize
}

func newFake() *fake {
	f := &fake{in: bufio.NewScanner(os.Stdin), out: bufio.NewWriter(os.Stdout), prompts: make(chan frame, 10), replies: make(chan frame, 10), cancels: make(chan frame, 10)}
	f.in.Buffer(nil, 64<<20)
	return f
}

func (f *fake) raw(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = f.out.WriteString(s)
	_ = f.out.Flush()
}

func (f *fake) answer(id json.RawMessage, result string) {
	f.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result))
}

func (f *fake) fail(id json.RawMessage, err string) {
	f.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, err))
}

func (f *fake) update(session, update string) {
	f.raw(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`+"\n", session, update))
}

func (f *fake) say(session, id, text string) {
	b, _ := json.Marshal(text)
	f.update(session, fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":%q,"content":{"type":"text","text":%s}}`, id, b))
}

// request asks ralph for something and returns the answer.
func (f *fake) request(method, params string) frame {
	f.mu.Lock()
	f.next++
	id := f.next
	f.mu.Unlock()
	f.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params))
	return <-f.replies
}

func (f *fake) done(p frame, usage string) {
	f.answer(p.ID, `{"stopReason":"end_turn"`+usage+`}`)
}

func (f *fake) serve(s scene) {
	if s.first != nil {
		s.first(f)
	}
	turned := make(chan struct{})
	go func() {
		defer close(turned)
		for p := range f.prompts {
			s.turn(f, p)
		}
	}()
	const usual = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true},"sessionCapabilities":{"resume":{},"fork":{}}},"agentInfo":{"name":"Fake","version":"1.2.3","later":1},"authMethods":[{"id":"x","name":"Login","description":"Run ` + "`fake login`" + `"}],"unknown":{"a":[1]}}`
	for f.in.Scan() {
		_, _ = fmt.Fprintln(os.Stderr, f.in.Text())
		var m frame
		if json.Unmarshal(f.in.Bytes(), &m) != nil {
			continue
		}
		if e := s.refuse[m.Method]; e != "" {
			f.fail(m.ID, e)
			continue
		}
		opened := s.opened
		if opened == "" {
			opened = `"later":[]`
		}
		switch m.Method {
		case "initialize":
			switch {
			case s.sleeper:
			case s.hello != "":
				f.answer(m.ID, s.hello)
			default:
				f.answer(m.ID, usual)
			}
		case "session/new":
			f.answer(m.ID, `{"sessionId":"ses_1",`+opened+`}`)
		case "session/resume":
			f.answer(m.ID, `{`+opened+`}`)
		case "session/load", "session/fork":
			if s.replay != nil {
				s.replay(f)
			}
			f.answer(m.ID, map[string]string{"session/load": `{}`, "session/fork": `{"sessionId":"ses_copy"}`}[m.Method])
		case "session/prompt":
			f.prompts <- m
		case "session/cancel":
			f.cancels <- m
		case "":
			f.replies <- m
		default:
			f.answer(m.ID, `{}`)
		}
	}
	close(f.prompts)
	if s.lingers {
		<-turned
	}
	if s.deaf {
		select {}
	}
}

// quick is a runner whose steps of stopping are short.
var quick = Runner{Base: runner.Base{Grace: 200 * time.Millisecond}}

// ask asks for a turn of the fake.
func ask(t *testing.T, what string) executor.AgentRun {
	t.Helper()
	if _, known := scenes[what]; !known {
		t.Fatalf("no scene %q", what)
	}
	r := executortest.AgentRun(t, ir.Runner{Kind: "acp", Run: []string{os.Args[0]}, Set: map[string]string{"FAKE_ACP": what}})
	r.Agent = "dev"
	return r
}

// sent is what the fake was told, one message a line.
func sent(t *testing.T, r executor.AgentRun) string {
	t.Helper()
	b, err := os.ReadFile(runner.File(r, runner.ErrExt))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func shown(t *testing.T, r executor.AgentRun) string {
	t.Helper()
	b, err := os.ReadFile(runner.File(r, runner.OutExt))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const reported = "```json\n{\"result\":\"success\",\"summary\":\"done\"}\n```"

// write is a tool call of the fake that is asked for.
func (f *fake) write(p frame, kind, id string) string {
	s := p.Params.Session
	f.update(s, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"title":"write made.txt","kind":%q,"status":"pending"}`, id, kind))
	r := f.request("session/request_permission", fmt.Sprintf(`{"sessionId":%q,"toolCall":{"toolCallId":%q,"title":"made.txt"},"options":[{"optionId":"always","kind":"allow_always","name":"A"},{"optionId":"yes","kind":"allow_once","name":"Y"},{"optionId":"no","kind":"reject_once","name":"N"},{"optionId":"odd","kind":"maybe","name":"?"}]}`, s, id))
	status := "completed"
	if strings.Contains(string(r.Result), `"no"`) {
		status = "failed"
	} else if strings.Contains(string(r.Result), `"yes"`) {
		_ = os.WriteFile("made.txt", []byte("x"), 0o600)
	}
	f.update(s, fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":%q,"content":[{"type":"content","content":{"type":"text","text":"it was %s"}},{"type":"strange"}]}`, id, status, status))
	return string(r.Result)
}

// child starts a process in a session of its own, as tools are.
func child() {
	c := exec.Command("setsid", "sh", "-c", "echo $$ > child.tmp; mv child.tmp child; echo; exec >&-; while :; do sleep 1; done")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, 1)) // it says that it is there
	}
	if err != nil {
		panic(err)
	}
}

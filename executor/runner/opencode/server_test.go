package opencode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// recorder keeps what is put on record.
func recorder(mu *sync.Mutex, facts *[]executor.Body) func(context.Context, executor.Body) error {
	return func(_ context.Context, b executor.Body) error {
		mu.Lock()
		defer mu.Unlock()
		*facts = append(*facts, b)
		return nil
	}
}

func TestOneServerServesAllTurnsOfAnEnvironment(t *testing.T) { // S4-55
	f := newFake(t, fine)
	keep := t.TempDir()
	turn := func(change func(*executor.AgentRun)) {
		r := f.ask(t)
		r.Keep = keep
		change(&r)
		if got, err := f.c.Run(t.Context(), r); err != nil || got.Outcome.Result != "success" {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { turn(func(r *executor.AgentRun) { r.Effect.Attempt = i + 1 }) })
	}
	wg.Wait()
	if n := len(f.servers()); n != 1 {
		t.Errorf("%d servers for one environment", n)
	}
	turn(func(r *executor.AgentRun) {
		r.Runner.Set = map[string]string{"HOME": f.dir, "OTHER": "1"}
	})
	if n := len(f.servers()); n != 2 {
		t.Errorf("%d servers for two environments", n)
	}
	env := f.newest()
	for _, want := range []string{"OPENCODE_DISABLE_AUTOUPDATE=1\n", "OPENCODE_DISABLE_MODELS_FETCH=1\n", "OPENCODE_DISABLE_PROJECT_CONFIG=1\n", `"autoupdate":false`, `"share":"disabled"`, "RALPH_OUTCOME=" + keep + "/opencode-", "TMPDIR=" + keep + "/opencode-", "OTHER=1\n"} {
		if !strings.Contains(env, want) {
			t.Errorf("the server's environment lacks %q:\n%s", want, env)
		}
	}
	for _, not := range []string{"RALPH_NODE", "RALPH_ATTEMPT", "RALPH_PROMPT"} {
		if strings.Contains(env, not) {
			t.Errorf("the server's environment holds %s, which differs from turn to turn", not)
		}
	}
	if err := f.c.Close(); err != nil {
		t.Error(err)
	}
	for _, file := range f.servers() {
		pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(file), "."))
		if alive(pid) {
			t.Errorf("server %d outlives Close", pid)
		}
	}
	if left, err := os.ReadDir(keep); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if _, err := f.c.Run(t.Context(), f.ask(t)); classOf(err) != executor.FailInterrupted {
		t.Errorf("after Close: %v", err)
	}
}

// Servers that start together migrate one database together, which all but one die of.
func TestAServerThatDiesOfItsDatabaseStartsAgain(t *testing.T) {
	for _, c := range []struct {
		says   string
		starts int
		class  executor.FailureClass
	}{
		{"Failed query: CREATE TABLE `workspace` (...)", startTries, executor.FailCrash},
		{"database is locked", 2, ""},
		{"Configuration is invalid", 1, executor.FailCrash},
	} {
		f := newFake(t, fine)
		script := fmt.Sprintf("#!/bin/sh\necho x >> %[1]s/starts\nif [ $(wc -l < %[1]s/starts) -lt %[2]d ] || [ %[3]t = true ]; then printf '%%s\\n' '%[4]s' >&2; exit 1; fi\nexec %[1]s/real \"$@\"\n",
			f.dir, c.starts, c.class != "", c.says)
		if err := os.Rename(f.program, filepath.Join(f.dir, "real")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		r := f.ask(t)
		r.Keep = t.TempDir()
		_, err := f.c.Run(t.Context(), r)
		if (err == nil) != (c.class == "") || c.class != "" && (classOf(err) != c.class || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v", c.says, err)
		}
		b, _ := os.ReadFile(filepath.Join(f.dir, "starts"))
		if n := strings.Count(string(b), "x"); n != c.starts {
			t.Errorf("%s: started %d times, want %d", c.says, n, c.starts)
		}
		if left, err := os.ReadDir(r.Keep); c.class != "" && (err != nil || len(left) > 0) {
			t.Errorf("%s: %v is left, %v", c.says, left, err)
		}
	}
}

func TestIdleServersAreFew(t *testing.T) {
	f := newFake(t, fine)
	for i := range idleServers + 2 {
		r := f.ask(t)
		r.Runner.Set["N"] = strconv.Itoa(i)
		if _, err := f.c.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, file := range f.servers() {
		if pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(file), ".")); alive(pid) {
			n++
		}
	}
	if n != idleServers {
		t.Errorf("%d servers live, want %d", n, idleServers)
	}
}

func TestAServerWorksInSoManyDirectories(t *testing.T) {
	f := newFake(t, fine)
	keep := t.TempDir()
	for range maxDirs + 2 {
		r := f.ask(t)
		r.Keep = keep
		if _, err := f.c.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, file := range f.servers() {
		if pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(file), ".")); alive(pid) {
			n++
		}
	}
	if len(f.servers()) != 2 || n != 1 {
		t.Errorf("%d servers were started and %d live", len(f.servers()), n)
	}
}

func TestAServerThatDiesIsACrashAndComesBack(t *testing.T) { // execution §4: killed by a signal that was not ours
	f := newFake(t, nil)
	f.turn = func(p *play) {
		p.status(status{Type: "busy"})
		p.hears()
		pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(p.servers()[0]), "."))
		_ = syscall.Kill(pid, syscall.SIGKILL) // the test's own
	}
	r := f.ask(t)
	if _, err := f.c.Run(t.Context(), r); classOf(err) != executor.FailCrash || !strings.Contains(err.Error(), "signal 9") {
		t.Fatalf("got %v", err)
	}
	f.lock(func() { f.turn, f.statuses = fine, map[string]status{} })
	r.Effect.Session = "ses_1"
	if got, err := f.c.Run(t.Context(), r); err != nil || got.Outcome.Result != "success" || got.Session != "ses_1" || len(f.servers()) != 2 {
		t.Errorf("got %+v, %v with %d servers", got, err, len(f.servers()))
	}
}

func TestAProgramThatCannotServeIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		class  executor.FailureClass
	}{
		"one that ends":         {"#!/bin/sh\necho no database >&2; exit 3\n", executor.FailCrash},
		"one that is no such":   {"", executor.FailConfig},
		"one that is no binary": {"garbage", executor.FailConfig},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, nil)
			r := f.ask(t)
			path := filepath.Join(t.TempDir(), "opencode")
			if c.script != "" {
				if err := os.WriteFile(path, []byte(c.script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			r.Runner.Run = []string{path}
			_, err := f.c.Run(t.Context(), r)
			if classOf(err) != c.class || c.class == executor.FailCrash && !strings.Contains(err.Error(), "no database") {
				t.Errorf("got %v", err)
			}
			if err := f.c.Check(t.Context(), r); (classOf(err) == executor.FailConfig) != (c.script == "") {
				t.Errorf("Check says %v", err)
			}
		})
	}
}

func TestMCPServersOfTheUserAreOff(t *testing.T) {
	f := newFake(t, fine)
	f.users = []string{"people"}
	r := f.ask(t)
	r.Runner.Set[contentVar] = `{"model":"a/b","mcp":{"people":{"timeout":5}}}`
	for range 2 {
		if _, err := f.c.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if env := f.newest(); !strings.Contains(env, `"people":{"enabled":false,"timeout":5}`) || !strings.Contains(env, `"model":"a/b"`) {
		t.Errorf("the server is configured with %s", env)
	}
	f.lock(func() {
		// The first server saw them and made room; nothing was sent to it.
		if n := f.count("POST /session "); n != 2 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestToolsAreThoseOfTheTurn(t *testing.T) {
	f := newFake(t, func(p *play) {
		p.lock(func() {
			if p.mcps["ralph_2"] != "connected" || p.mcps["ralph_1"] != "disabled" || p.mcps["broken"] != "disabled" {
				p.t.Errorf("a turn sees %v", p.mcps)
			}
		})
		fine(p)
	})
	f.mcps["ralph_1"], f.mcps["broken"] = "connected", "failed"
	r := f.ask(t)
	r.Tools = &executor.Tools{Name: "ralph_2", URL: "http://127.0.0.1:1/mcp", Token: "secret-token"}
	if _, err := f.c.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	f.lock(func() {
		if f.mcps["ralph_2"] != "disabled" || f.count(`POST /mcp {"config":{"enabled":true,"headers":{"Authorization":"Bearer secret-token"},"oauth":false,"type":"remote","url":"http://127.0.0.1:1/mcp"}`) != 1 {
			t.Errorf("after the turn %v; calls %q", f.mcps, f.calls)
		}
		f.refuses = true
	})
	if _, err := f.c.Run(t.Context(), r); classOf(err) != executor.FailConfig || !strings.Contains(err.Error(), "no route") {
		t.Errorf("tools that cannot be reached: %v", err)
	}
	if f.called("POST /session/ses_2/prompt") > 0 {
		t.Error("a turn without its tools was begun")
	}
}

func TestSessionsAreMadeResumedAndForked(t *testing.T) { // S4-101, S4-102, S0-114
	f := newFake(t, fine)
	r, facts := f.record(t)
	r.Read = true
	first, err := f.c.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Effect.Session = first.Session
	if second, err := f.c.Run(t.Context(), r); err != nil || second.Session != first.Session || second.Outcome.Result != "success" {
		t.Errorf("got %+v, %v", second, err)
	}
	r.Fork, r.Dir = true, t.TempDir()
	third, err := f.c.Run(t.Context(), r)
	if err != nil || third.Session == first.Session {
		t.Errorf("got %+v, %v", third, err)
	}
	f.lock(func() {
		if f.sessions[third.Session].Directory != r.Dir || f.sessions[first.Session].Directory == r.Dir {
			t.Errorf("the copy works in %s, the original in %s", f.sessions[third.Session].Directory, f.sessions[first.Session].Directory)
		}
		for _, id := range []string{first.Session, third.Session} {
			if rules := f.rules[id]; len(rules) == 0 || rules[len(rules)-1] != (rule{"edit", "*", "deny"}) {
				t.Errorf("a reading session's rules are %v", rules)
			}
		}
	})
	want := []executor.Body{
		executor.AgentSession{Session: "ses_1", Agent: "dev", Turn: "agent-1", Fresh: true},
		executor.AgentSession{Session: "ses_1", Agent: "dev", Turn: "agent-1"},
		executor.AgentSession{Session: "ses_2", Agent: "dev", Turn: "agent-1", Fresh: true},
	}
	if !slices.Equal(*facts, want) {
		t.Errorf("on record %+v, want %+v", *facts, want)
	}
	r.Effect.Session = "ses_gone"
	for _, fork := range []bool{false, true} {
		r.Fork = fork
		if _, err := f.c.Run(t.Context(), r); classOf(err) != executor.FailSession {
			t.Errorf("a session that is gone: %v", err)
		}
	}
}

func TestShellsGetTheVariablesOfTheirTurn(t *testing.T) {
	var out []byte
	var r executor.AgentRun
	f := newFake(t, nil)
	f.turn = func(p *play) {
		shell := between(p.newest(), `"shell":"`, `"`)
		cmd := exec.Command(shell, "-c", `echo "$RALPH_NODE|$RALPH_OUTCOME|$OPENCODE_SERVER_PASSWORD|$OTHER"`)
		cmd.Dir = r.Dir + "/deep"
		cmd.Env = []string{"OPENCODE_SERVER_PASSWORD=x", "PATH=" + os.Getenv("PATH"), "OTHER=o"}
		var err error
		if out, err = cmd.CombinedOutput(); err != nil {
			p.t.Errorf("%s: %v: %s", shell, err, out)
		}
		fine(p)
	}
	r = f.ask(t)
	r.Files = filepath.Join(t.TempDir(), "it's here")
	if err := os.Mkdir(r.Dir+"/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.c.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if want := "1.1|" + r.OutcomeFile() + "||o\n"; string(out) != want {
		t.Errorf("a shell sees %q, want %q", out, want)
	}
}

func between(s, a, b string) string {
	_, s, _ = strings.Cut(s, a)
	s, _, _ = strings.Cut(s, b)
	return s
}

func TestWhatATurnLeftInTheBackgroundIsEnded(t *testing.T) { // execution §8
	f := newFake(t, nil)
	var left *exec.Cmd
	var r executor.AgentRun
	f.turn = func(p *play) {
		left = exec.Command("sleep", "1000")
		left.Env = []string{runner.Mark + "=" + r.OutcomeFile()}
		if err := left.Start(); err != nil {
			p.t.Error(err)
		}
		fine(p)
	}
	r = f.ask(t)
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	if _, err := f.c.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := left.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended with %v", err)
	}
}

func TestTheServerOfADeadRalphIsSweptAndCleaned(t *testing.T) { // execution §8
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	f := newFake(t, fine)
	keep := t.TempDir()
	dead := filepath.Join(keep, "opencode-999999999-1")
	if err := os.MkdirAll(filepath.Join(dead, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	orphan := exec.Command(f.program, "serve")
	orphan.Env = []string{"PATH=" + os.Getenv("PATH"), runner.Mark + "=" + filepath.Join(dead, "server")}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- orphan.Wait() }()
	for process.Sweep(keep+"/", runner.Mark) == 0 { // it does not carry its mark yet
	}
	if err := <-over; err == nil {
		t.Error("it ended by itself")
	}
	r := f.ask(t)
	r.Keep = keep
	if _, err := f.c.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("its directory is left")
	}
}

func TestHowAPersonJoins(t *testing.T) { // S0-112
	var during []string
	f := newFake(t, nil)
	var r executor.AgentRun
	f.turn = func(p *play) {
		during = p.c.Join(r, p.session).Argv
		fine(p)
	}
	r = f.ask(t)
	r.Runner.Set["XDG_DATA_HOME"] = "/data"
	got, err := f.c.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(during) != 5 || filepath.Base(during[0]) != attachFile || !slices.Equal(during[1:], []string{"--dir", r.Dir, "--session", got.Session}) {
		t.Errorf("while it runs: %q", during)
	}
	script, err := os.ReadFile(during[0])
	if st, err2 := os.Stat(during[0]); err != nil || err2 != nil || st.Mode().Perm() != 0o700 || !strings.Contains(string(script), "exec "+shellword.Quote(f.program)+" attach "+f.url+" \"$@\"") {
		t.Errorf("%v %v: %s", err, err2, script)
	}
	if err := f.c.Close(); err != nil {
		t.Fatal(err)
	}
	after := f.c.Join(r, got.Session).Argv
	if want := []string{"env", "HOME=" + f.dir, "XDG_DATA_HOME=/data", f.program, r.Dir, "--session", got.Session}; !slices.Equal(after, want) {
		t.Errorf("afterwards: %q, want %q", after, want)
	}
}

func TestNativesAndVersion(t *testing.T) { // S4-132
	f := newFake(t, nil)
	r := f.ask(t)
	path := filepath.Join(r.Dir, ".opencode", "agent", "critic.md")
	if err := put(path, "x"); err != nil {
		t.Fatal(err)
	}
	got, err := f.c.Natives(t.Context(), r)
	want := []executor.Native{
		{Name: "build", Write: true},
		{Name: "critic", Description: "criticises", Provider: "p", Model: "m", Path: path},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if v, err := f.c.Version(t.Context(), r); err != nil || v != "1.18.33" {
		t.Errorf("version %q, %v", v, err)
	}
	r.Runner = ir.Runner{Run: []string{"/bin/echo", "no"}}
	if _, err := f.c.Version(t.Context(), r); classOf(err) != executor.FailConfig {
		t.Errorf("something else: %v", err)
	}
}

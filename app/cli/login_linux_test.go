package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/ir"
)

// loginCodex stands for Codex. A login writes its file as Codex does, by rename; a turn
// renews it, and tries what would reach the agents of other sandboxes.
const loginCodex = `#!/bin/sh
set -eu
keep() { echo "$1" > "$CODEX_HOME/auth.new" && mv "$CODEX_HOME/auth.new" "$CODEX_HOME/auth.json"; }
case " $* " in
*" login "*) read -r key; mkdir "$CODEX_HOME/hooks"; echo hook > "$CODEX_HOME/config.toml"; keep "$key:$*"; exit "${CODE:-0}";;
*" --version "*) echo 'codex-cli 0.169.0'; exit;;
esac
cat > "$HOME/prompt"
who=${RALPH_GATE:-$RALPH_NODE}
has=$(cat "$CODEX_HOME/auth.json")
kept=$(ls "$CODEX_HOME/sessions" | tr '\n' ' ')
echo "mine" > "$CODEX_HOME/sessions/$who"
echo "mine" > "$CODEX_SQLITE_HOME/state.sqlite"
for f in config.toml .env environments.toml hooks.json AGENTS.md rules/evil.rules agents/evil.toml; do
	if (echo evil >> "$CODEX_HOME/$f") 2> /dev/null; then echo "$who wrote $f" >> "$TOP/log/planted"; fi
done
if mv "$CODEX_HOME" "$CODEX_HOME.away" 2> /dev/null; then echo "$who moved it" >> "$TOP/log/planted"; fi
keep "$has+"
echo "$has|$kept" >> "$TOP/log/turns"
answer='{\"result\":\"success\",\"summary\":\"did it\"}'
if grep -q '"status"' "$HOME/prompt"; then answer='{\"status\":\"pass\",\"message\":\"fine\"}'; else echo "$who" > "out-$who.txt"; fi
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"turn.started"}'
echo "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"$answer\"}}"
echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
`

// codexSite is a site with confined agents, and a judge, that Codex runs.
func codexSite(t *testing.T, program string, set map[string]string, change ...func(*ir.Epic)) *site {
	t.Helper()
	return confinedSite(t, "", append([]func(*ir.Epic){func(e *ir.Epic) {
		e.Runners["codex"] = ir.Runner{Kind: "codex", Run: []string{program}, Env: []string{"PATH", "HOME", "CODEX_API_KEY", "CODEX_HOME"}, Set: set}
		box := e.Sandboxes["default"]
		box.Network = []string{"model"}
		e.Sandboxes["default"] = box
		e.Agents["dev"] = ir.Agent{Runner: "codex", Access: "write"}
		e.Agents["judge"] = ir.Agent{Runner: "codex", Access: "read"}
		e.Gates["judged"] = ir.Gate{Kind: "agent", Agent: "judge", Prompt: []string{"Is it right?"}, Sandbox: "default", Network: []string{"model"}, From: "policy", OnFailure: "retry", TimeoutMS: 60_000}
		e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "judged")
		e.Nodes[1].After = []ir.Edge{{Key: "1.1", From: "explicit", Type: ir.Blocks}}
	}}, change...)...)
}

// logins runs ralph login with something to read.
func (s *site) logins(in string, want int, args ...string) ran {
	s.t.Helper()
	got := s.begin(func(r *starting) { r.cmd.Stdin = strings.NewReader(in) }, append([]string{"login"}, args...)...).wait()
	if got.code != want {
		s.t.Fatalf("ralph login %s: exit %d, want %d\n%s", strings.Join(args, " "), got.code, want, got.all())
	}
	return got
}

// below are the files of a directory.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestALoginIsSharedByTheSandboxesOfItsRunner(t *testing.T) {
	t.Parallel()
	s := codexSite(t, "codex", nil)
	s.write("../bin/codex", loginCodex)
	s.write("../home/.codex/auth.json", "the user's own")

	s.logins("k1\n", exit.Done, "codex", "--", "--with-api-key")
	got := s.logins("", exit.Done, "--list").out
	if !strings.HasPrefix(got, "codex  codex, since ") || strings.Count(got, "\n") != 1 {
		t.Errorf("ralph login --list says\n%s", got)
	}
	top := filepath.Join(s.top, "home/.local/state/ralph/logins")
	if files := below(t, top); slices.Contains(files, "codex/codex/login/hooks") || s.read("../home/.local/state/ralph/logins/codex/codex/login/config.toml") != "" {
		t.Errorf("settings of the login's program are kept: %q", files)
	}
	if st, err := os.Stat(top); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("others can read the logins: %v %v", st, err)
	}

	s.apply(exit.Done)
	login := "k1:login --with-api-key"
	// Each turn finds what the one before it left of the login, and no session of another.
	if got, want := s.read("../log/turns"), fmt.Sprintf("%s|\n%s+|\n%s++|\n", login, login, login); got != want {
		t.Errorf("the turns found\n%swant\n%s", got, want)
	}
	if got := s.read("../home/.local/state/ralph/logins/codex/codex/login/auth.json"); got != login+"+++\n" {
		t.Errorf("the login is then %q", got)
	}
	if got := s.read("../log/planted"); got != "" {
		t.Errorf("agents wrote what other agents read:\n%s", got)
	}
	if got := s.read("../home/.codex/auth.json"); got != "the user's own" || len(below(t, filepath.Join(s.top, "home/.codex"))) != 1 {
		t.Errorf("the user's own login: %q, %q", got, below(t, filepath.Join(s.top, "home/.codex")))
	}
	if got := s.enters("", "1.1", "--agent", "dev", "--", "sh", "-c", `cat "$CODEX_HOME/auth.json"; ls "$CODEX_HOME/sessions"`); got.out != login+"+++\n1.1\n" {
		t.Errorf("a person in the sandbox sees\n%s", got.all())
	}

	if got := s.ralph("logout", "codex"); got.code != exit.Done || len(below(t, top)) != 0 {
		t.Errorf("logout: exit %d, and there is still %q\n%s", got.code, below(t, top), got.all())
	}
	if got := s.ralph("logout", "codex"); got.code != exit.Input || !strings.Contains(got.err, "ralph keeps no login of codex") {
		t.Errorf("logout once more: exit %d\n%s", got.code, got.all())
	}
}

func TestALoginThatFailsLeavesTheOneBefore(t *testing.T) {
	t.Parallel()
	s := codexSite(t, "codex", nil)
	s.write("../bin/codex", loginCodex)
	s.write("ralph.hcl", "runner \"work\" {\n  kind = \"codex\"\n  run  = [\"codex\", \"-c\", \"x=1\", \"${run.model}\"]\n}\nrunner \"oc\" { kind = \"opencode\" }\n")
	cut := filepath.Join(s.top, "home/.local/state/ralph/logins/.new-1")
	s.write(filepath.Join(cut, "program/auth.json"), "of a login that was killed")
	if err := os.Chtimes(cut, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	s.logins("k1\n", exit.Done, "work")
	auth := "../home/.local/state/ralph/logins/work/codex/login/auth.json"
	was := s.read(auth)
	if was != "k1:-c x=1 login\n" {
		t.Fatalf("the login is %q", was)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"that ends with an error": {[]string{"codex"}, "codex login did not log in: it ended with exit status 1"},
		"of OpenCode":             {[]string{"oc"}, "OpenCode keeps its login beside the database of all its sessions"},
		"of a script":             {[]string{"command"}, "ralph cannot log in a program of kind command"},
		"of nobody":               {[]string{"nobody"}, `there is no runner "nobody"; there are: `},
		"of no program":           {[]string{"claude"}, "claude cannot run"},
	} {
		if got := s.logins("", exit.Input, c.args...); !strings.Contains(got.err, c.want) {
			t.Errorf("a login %s says\n%s", name, got.err)
		}
	}
	s.write("../bin/claude", "#!/bin/sh\ntest \"$1 $2\" = 'auth login'\n")
	if got := s.logins("", exit.Input, "claude"); !strings.Contains(got.err, "left no login: no .credentials.json in CLAUDE_CONFIG_DIR=") {
		t.Errorf("a login that left nothing says\n%s", got.err)
	}
	s.logins("", exit.Usage)
	s.logins("", exit.Usage, "work", "--device-auth")
	if got := s.logins("", exit.Done, "--list", "--json").out; s.read(auth) != was || strings.Count(got, `"name"`) != 1 || len(below(t, filepath.Join(s.top, "home/.local/state/ralph/logins"))) != len(below(t, filepath.Join(s.top, "home/.local/state/ralph/logins/work"))) {
		t.Errorf("the logins are then\n%s", got)
	}
}

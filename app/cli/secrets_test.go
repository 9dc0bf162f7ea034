//go:build unix

package cli

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

func TestSecretsAreNowhereStoredOrPrinted(t *testing.T) { // S4-73
	t.Parallel()
	const secret, theirs = `deploy/key+of "ann" & co`, "ghx-of-the-users-own-shell"
	epic := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Secrets = map[string]ir.Secret{"deploy": {Env: "DEPLOY"}, "pin": {Env: "PIN_OF_CARD"}}
		r := e.Runners["sh"]
		r.Secrets = []string{"deploy"}
		e.Runners["sh"] = r
		g := e.Gates["check"]
		g.Run, g.Evidence = `echo "the gate sees $MY_API_TOKEN"; [ $RALPH_ATTEMPT -gt 1 ]`, true
		e.Gates["check"] = g
		e.Run.Worktree.Setup = []string{`echo "setup sees $MY_API_TOKEN"`}
	})
	s := newSite(t, siteWork+`
echo "plain: $DEPLOY"
echo "base64: $(printf %s "$DEPLOY" | base64)"
printf '%s' "$DEPLOY" | head -c 9; sleep 0; printf '%s\n' "$DEPLOY" | tail -c +10
echo "in stderr: $DEPLOY" >&2
echo "a shape: sk-ant-api03-abcdefghijklmnopqrstuvwxyz"
printf '{"result":"success","summary":"I used %s"}' "$(printf %s "$DEPLOY" | sed 's/"/\\"/g')" > "$RALPH_OUTCOME"
`, epic)
	with := func(st *starting) {
		st.cmd.Env = append(st.cmd.Env, "DEPLOY="+secret, "MY_API_TOKEN="+theirs, "PIN_OF_CARD=1234")
	}
	st := s.begin(with, "apply", "--events", "jsonl")
	got := st.wait()
	if got.code != exit.Done {
		t.Fatalf("exit %d\n%s", got.code, got.all())
	}
	if !strings.Contains(got.all(), "not redacted from what is stored and printed: secret pin\n") {
		t.Errorf("nobody says that a secret is too short:\n%s", got.all())
	}
	shown := map[string]string{"what apply prints": got.all()}
	for _, args := range [][]string{{"log", "1.1"}, {"show", "1.1"}, {"status", "--json"}, {"report"}} {
		shown["ralph "+strings.Join(args, " ")] = s.begin(with, args...).wait().all()
	}
	stored := map[string]string{}
	err := filepath.WalkDir(s.state(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		stored[strings.TrimPrefix(path, s.state())] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	asJSON := strings.ReplaceAll(secret, `"`, `\"`)
	forms := []string{secret, asJSON, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), theirs, "sk-ant-api03-abc"}
	marked := 0
	for _, where := range []map[string]string{shown, stored} {
		for _, name := range slices.Sorted(maps.Keys(where)) {
			for _, form := range forms {
				if i := strings.Index(where[name], form); i >= 0 {
					t.Errorf("%s holds %q: …%q…", name, form, where[name][max(0, i-60):min(len(where[name]), i+60)])
				}
			}
			marked += strings.Count(where[name], "[secret")
		}
	}
	// The agent, two gates, setup and the outcome said something each.
	if marked < 8 || !bytes.Contains([]byte(stored["/attempts/bd-1-1/implement-1/agent-1.out"]), []byte("plain: [secret deploy]")) {
		t.Errorf("%d places are marked; the agent's output:\n%s", marked, stored["/attempts/bd-1-1/implement-1/agent-1.out"])
	}
}

func TestWhichVariablesAreSecret(t *testing.T) {
	epic := &ir.Epic{
		Secrets: map[string]ir.Secret{"deploy": {Env: "DEPLOY_TOKEN"}, "absent": {Env: "ABSENT"}},
		Runners: map[string]ir.Runner{"r": {Set: map[string]string{"OPENAI_API_KEY": "dummy-value", "REGION_KEY": "${run.branch}"}}},
	}
	got := record.SecretValues(epic, []string{
		"DEPLOY_TOKEN=12345678", "GITHUB_TOKEN=abcdefgh", "PGPASSWORD_FILE=/run/secrets", "KEYBOARD=de-latin1-nodeadkeys", "SSH_AUTH_SOCK=/tmp/agent.1",
		"SHORT_KEY=abc", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "db_password=hunter22", "HOME=/home/ann",
	})
	want := map[string]string{"deploy": "12345678", "GITHUB_TOKEN": "abcdefgh", "db_password": "hunter22", "OPENAI_API_KEY": "dummy-value"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// execution §3: known secrets in the diff fail the attempt, words that are called one do not.
func TestWhichSecretsAreLookedForInCommits(t *testing.T) {
	epic := &ir.Epic{Secrets: map[string]ir.Secret{}}
	values := map[string]string{"GITHUB_TOKEN": "ghp-123abc456", "OTHER_PASSWORD": "postgres"}
	add := func(v string) { values[v], epic.Secrets[v] = v, ir.Secret{} }
	words := []string{"postgres", "password", "Password1", "localhost", "localhost:5432", "db.internal", "correct horse", "postgres14", "12345678", "127.0.0.1:5432", "admin@example", "true", "8080", "/home/user", "~/.ssh/id_ed25519", "/Users/ann/Projects/shop/key.json"}
	secrets := []string{"hunter2/swordfish+77", "hunter2swordfish77", "Tr0ub4dor", "correct-horse-battery-staple", "p@ss/w%rd", "A=word\nB=word", "/x9fK+a/Qm2/Zr8T"}
	for _, v := range append(words, secrets...) {
		add(v)
	}
	got, doubtful := record.Unmistakable(epic, values)
	slices.Sort(words)
	if !slices.Equal(doubtful, words) {
		t.Errorf("left out %q, want %q", doubtful, words)
	}
	if want := append(secrets, "GITHUB_TOKEN"); !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("looked for are %q", slices.Sorted(maps.Keys(got)))
	}
}

// execution §3: commands get what a command runner lets through, and more.
func TestCommandsGetTheListOfACommandRunner(t *testing.T) {
	if got, want := process.Basic(), policies.DefaultEnv("command"); !slices.Equal(got, want) {
		t.Errorf("gates get %q, a command runner lets through %q", got, want)
	}
}

package web_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/web"
)

// searching looks for the words of a file wherever a program of a run can look: in its own
// environment, in the arguments and environments of all processes, and in all files of the
// user: the repository, its worktrees, the run's directory, temporary and configuration files.
const searching = `seek() { grep -aoHFf "$OUT/words" "$@" 2>/dev/null; }
{
  env | seek --label=env
  seek /proc/[0-9]*/cmdline /proc/[0-9]*/environ
  seek -r "$TOP"
  echo end
} > "$OUT/found-$1"
`

// A page is there while agents and gates work, and decides; but its token is
// nowhere where they can look. A word that was put into each of these places is found there.
func TestTheTokenIsNotWhereAProgramOfARunCanLook(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc")
	}
	const control = "5c0ffee5c0ffee5c0ffee5c0ffee5c0f" // as long as a token
	n, out := newNight(t), t.TempDir()
	top := filepath.Dir(n.dir)
	tmp := filepath.Join(top, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(n.dir, "search.sh"), searching)
	write(t, filepath.Join(n.dir, "agent.sh"), `echo "$RALPH_NODE $CONTROL" | tee "out-$RALPH_NODE.txt"
while [ -e "$HOLD" ]; do sleep 0.1; done
if [ "$RALPH_NODE" = 1.1 ]; then sh search.sh agent; fi
`)
	policy := filepath.Join(n.dir, "ralph.hcl")
	b, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	write(t, policy, strings.NewReplacer(
		`["PATH", "HOLD"]`, fmt.Sprintf(`["PATH", "HOLD", "OUT=%s", "TOP=%s", "CONTROL=%s"]`, out, top, control),
		`run  = "if`, fmt.Sprintf("env  = { OUT = %q, TOP = %q, CONTROL = %q }\n  run  = \"if [ \\\"$RALPH_NODE\\\" = 1.1 ]; then sh search.sh gate; fi; if", out, top, control),
	).Replace(string(b)))
	n.git("add", "-A")
	n.policy("budget { wall = \"2h\" }\n")
	n.env = append(n.env, "TMPDIR="+tmp, "CONTROL="+control)

	// A process as another program of the user is one.
	stays := n.command("sh", "-c", "read x", control)
	in, err := stays.StdinPipe()
	if err == nil {
		err = stays.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = stays.Wait() // its input has ended
	})
	write(t, filepath.Join(tmp, "planted"), control)
	write(t, filepath.Join(n.dir, ".git", "planted"), control)

	write(t, n.hold, "")
	p, pid := n.ui()
	token := strings.TrimPrefix(p.auth, "Bearer ")
	if len(token) != len(control) {
		t.Fatalf("the token has %d characters", len(token))
	}
	write(t, filepath.Join(out, "words"), token+"\n"+control+"\n")
	apply := n.command(filepath.Join(n.bin, "ralph"), "apply")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	at := "/epics/" + p.only().ID
	until(t, "1.1 runs", func() bool { return p.state(at, "1.1") == "running" })
	p.walk(at, p.only().Seq, true, []step{{"", "ffff-0001", `"verb": "pause"`, 200, "acts on it", "human"}})
	p.walk(at, p.only().Seq, true, []step{{"", "ffff-0002", `"verb": "resume", "budget": "wall=+1h"`, 200, "acts on it", "-"}})
	get[web.Sprint](p, at+"/nodes/1.1")
	remove(t, n.hold)
	var ended *exec.ExitError
	if err := apply.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 3 {
		t.Errorf("apply: %v", err)
	}

	for _, who := range []string{"agent", "gate"} {
		b, err := os.ReadFile(filepath.Join(out, "found-"+who))
		if err != nil {
			t.Fatal(err)
		}
		found := string(b)
		if !strings.HasSuffix(found, "\nend\n") {
			t.Errorf("%s: it did not search to the end: %q", who, found)
		}
		if strings.Contains(found, token) {
			t.Errorf("%s: the token was found:\n%s", who, found)
		}
		for _, place := range []string{
			"env",
			fmt.Sprintf("/proc/%d/cmdline", stays.Process.Pid),
			fmt.Sprintf("/proc/%d/environ", stays.Process.Pid),
			fmt.Sprintf("/proc/%d/environ", pid), // the page's own server
			filepath.Join(tmp, "planted"),
			filepath.Join(n.dir, ".git", "planted"),
			filepath.Join(top, "shop-worktrees/ralph/plan/1-1-prices/out-1.1.txt"),
		} {
			if !strings.Contains("\n"+found, "\n"+place+":"+control+"\n") {
				t.Errorf("%s: what was put into %s was not found:\n%s", who, place, found)
			}
		}
		if who == "gate" && !strings.Contains(found, filepath.Join(n.stateDir(), "attempts")) {
			t.Errorf("what the agent printed was not found:\n%s", found)
		}
	}
}

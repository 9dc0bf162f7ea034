package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/sandbox/group"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// minGit is the first git whose merge-tree can write a tree without a worktree.
var minGit = [2]int{2, 38}

// Finding is one line of doctor.
type Finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, missing, warning, error
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`

	Unneeded bool `json:"unneeded,omitempty"` // it is missing, and the policy of this project does without it

	of string // what needs names
}

// Examine checks the tools, runners and project of the current directory and returns
// its findings, good and bad: Finding.State says which. With live it lets agents say hello.
// It never fails. A nil ctx is context.Background().
func Examine(ctx context.Context, live bool) []Finding {
	if ctx == nil {
		ctx = context.Background()
	}
	found := examineMachine(ctx)
	more, needs := examineProject(ctx, live)
	return append(needs.mark(found), more...)
}

// examineMachine looks at what does not depend on the project.
func examineMachine(ctx context.Context) []Finding {
	found := []Finding{
		{Name: "ralph", State: "ok", Detail: version.Ralph() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		examineGit(ctx),
	}
	if f, ok := otherRalph(); ok {
		found = append(found, f)
	}
	for _, t := range run.Tools {
		f := Finding{Name: t.Name, State: "ok", of: t.Name}
		path, err := exec.LookPath(t.Name)
		if err != nil {
			f.State, f.Detail, f.Hint = "missing", "not on PATH; needed for "+t.Purpose, t.Hint
		} else if f.Detail = firstLine(ctx, path, t.Flag); f.Detail == "" {
			f.State, f.Detail = "warning", path+" "+t.Flag+" does not answer"
		}
		found = append(found, f)
	}
	return append(append(found, examineKinds(ctx)...), examineGroups(ctx))
}

// examineGroups makes the group in which sandboxes get theirs.
func examineGroups(ctx context.Context) Finding {
	f := Finding{Name: "groups", of: groups, State: "ok", Detail: "limits.memory and limits.cpu of a sandbox hold"}
	if _, err := group.Base(ctx, group.Memory, group.CPU, group.Pids); err != nil {
		f.State, f.Detail = "missing", fmt.Sprintf("limits.memory and limits.cpu are refused: %v", err)
		if l, ok := errors.AsType[*group.Lacking](err); ok {
			f.Detail, f.Hint = "limits.memory and limits.cpu are refused: "+l.Why, l.Mend
		}
	}
	return f
}

// examineKinds makes a sandbox of each kind, and says which kind = "auto" takes here.
func examineKinds(ctx context.Context) []Finding {
	var found []Finding
	taken := wall.Kind("")
	for _, kind := range wall.Confining {
		took, err := sandbox.Try(ctx, kind)
		f := Finding{Name: "sandbox", of: anySandbox, State: "ok", Detail: fmt.Sprintf("kind %s works (%d ms)", kind, took.Milliseconds())}
		switch {
		case err == nil && taken == "":
			taken = kind
			f.Detail += "; kind = \"auto\" takes it"
		case err != nil:
			f.State, f.Detail = "missing", fmt.Sprintf("no kind %s: %v", kind, err)
			if off, ok := errors.AsType[*sandbox.Unavailable](err); ok {
				f.Detail, f.Hint = fmt.Sprintf("no kind %s: %s", kind, off.Why), off.Mend
			}
			if taken != "" {
				f.Detail += fmt.Sprintf("; kind %s is enough", taken)
			}
		}
		found = append(found, f)
	}
	least := examineLandlock(ctx, taken)
	found = append(found, least)
	if taken == "" {
		f := Finding{Name: "sandbox", of: anySandbox, State: "warning", Detail: "agents and gates cannot be confined here, and kind = \"auto\" is refused: one of the above is needed"}
		if least.State == "ok" {
			f.Detail, f.Hint = "kind = \"auto\" is refused here", `accept = "landlock" in the sandbox's block takes landlock, which holds less`
		}
		found = append(found, f)
	}
	return found
}

// examineLandlock makes a sandbox of the kind that auto takes only where it is accepted.
func examineLandlock(ctx context.Context, taken wall.Kind) Finding {
	took, err := sandbox.Try(ctx, wall.Landlock)
	if off, ok := errors.AsType[*sandbox.Unavailable](err); ok {
		return Finding{Name: "sandbox", of: landlockBox, State: "missing", Detail: "no kind landlock: " + off.Why, Hint: off.Mend}
	}
	if err != nil {
		return Finding{Name: "sandbox", of: landlockBox, State: "missing", Detail: fmt.Sprintf("no kind landlock: %v", err)}
	}
	f := Finding{Name: "sandbox", State: "ok", Detail: fmt.Sprintf("kind landlock works (%d ms, ABI %d), and holds less", took.Milliseconds(), sandbox.LandlockABI())}
	if taken == "" {
		f.Detail += `; kind = "auto" takes it only with accept = "landlock"`
	}
	if weak := sandbox.Weak(); weak != "" {
		f.State, f.Detail = "warning", f.Detail+"; "+weak
	}
	return f
}

var gitVersion = lazyregexp.New(`git version (\d+)\.(\d+)`)

func examineGit(ctx context.Context) Finding {
	f := Finding{Name: "git", State: "ok"}
	path, err := exec.LookPath("git")
	if err != nil {
		return Finding{Name: "git", State: "error", Detail: "not on PATH; ralph cannot apply anything without it", Hint: "https://git-scm.com/downloads"}
	}
	f.Detail = firstLine(ctx, path, "--version")
	m := gitVersion.FindStringSubmatch(f.Detail)
	if m == nil {
		f.State, f.Hint = "error", path+" --version prints no version"
		return f
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < minGit[0] || major == minGit[0] && minor < minGit[1] {
		f.State = "error"
		f.Hint = fmt.Sprintf("ralph apply needs git %d.%d or newer (merge-tree --write-tree)", minGit[0], minGit[1])
	}
	return f
}

// otherRalph looks for another program of this name on PATH: the name is taken
// by several projects.
func otherRalph() (Finding, bool) {
	self, err := os.Executable()
	if err != nil {
		return Finding{}, false
	}
	mine, err := os.Stat(self)
	if err != nil {
		return Finding{}, false
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, filepath.Base(self))
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 || os.SameFile(mine, info) {
			continue
		}
		return Finding{
			Name: "PATH", State: "warning", Detail: "another " + filepath.Base(self) + " is at " + path,
			Hint: "run this one by its path, or put its directory first in PATH",
		}, true
	}
	return Finding{}, false
}

var versionLine = lazyregexp.New(`(?m)^.*\d+\.\d+.*$`)

// firstLine is the line with which a program says its version, else its first.
func firstLine(ctx context.Context, path string, arg string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	program := exec.CommandContext(ctx, path, arg)
	program.WaitDelay = time.Second // a child of it may hold the output open
	out, err := program.CombinedOutput()
	if err != nil && len(out) == 0 {
		return ""
	}
	line := text.FirstLine(string(out))
	if l := versionLine.Find(out); l != nil { // some warn before they say it
		line = string(l)
	}
	return columns.Truncate(reveal.Words(strings.TrimSpace(line)), 80)
}

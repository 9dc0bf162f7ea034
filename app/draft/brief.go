package draft

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/app/draft/rules"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/slug"
	"github.com/ralph-compiler/ralph/ir"
)

// MaxBrief bounds a brief, in bytes: every prompt contains it.
const MaxBrief = 256 << 10

// BriefOf checks the text of a brief and returns its lines, trimmed at both ends.
func BriefOf(text string) ([]string, error) {
	text = strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"))
	switch {
	case strings.Trim(text, " \t\n#") == "":
		return nil, exit.Usagef("the brief is empty: say what the plan is for")
	case !utf8.ValidString(text):
		return nil, exit.Inputf("the brief is not UTF-8 text: save it as UTF-8")
	case len(text) > MaxBrief:
		return nil, exit.Inputf("the brief has %d KB; at most %d KB are read: name what matters, and where the rest is", len(text)>>10, MaxBrief>>10)
	}
	return strings.Split(text, "\n"), nil
}

// OpenProject is the repository around the current directory: a draft is worked on in
// a worktree of it.
func OpenProject() (*project.Project, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if project.GitRoot(wd) == "" {
		return nil, exit.Inputf("%s is not in a git repository: a plan is drafted in a worktree of one.\n  git init && git add -A && git commit -m begin", wd)
	}
	return project.Open(filepath.Join(wd, "plan.md"))
}

// PlanToWrite is the path of the plan to be written, relative to the project; if file is "",
// it is derived from the brief. With there, the file may exist.
func PlanToWrite(p *project.Project, file string, brief []string, there bool) (string, error) {
	if file == "" {
		file = filepath.Join(p.Dir, "plans", planName(rules.Subject(rules.Title(brief)))+".md")
	}
	plan, inside := p.Rel(file)
	switch {
	case !inside:
		return "", exit.Inputf("%s is outside the repository %s", file, p.Dir)
	case strings.HasSuffix(file, "/") || project.IsDir(file):
		return "", exit.Usagef("-o %s is a directory; name the plan's file", file)
	case project.KindOf(plan) != "plan":
		return "", exit.Usagef("-o %s: a plan is a markdown file, such as plans/login.md", file)
	}
	if err := p.LeadsOut(file); err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(plan))); err == nil && !there {
		return "", exit.Inputf("%s exists already.\n  To have it changed: ralph draft --revise %s -m \"what to change\"\n  To have another one written: name it with -o", plan, typedPath(p.Dir, plan))
	}
	return plan, nil
}

// planName derives a file name from the subject: as many words as fit. A subject without
// Latin letters or digits is named by its hash, so that different ones get different files.
func planName(about string) string {
	name := slug.Make(about)
	if name == slug.Empty && !strings.EqualFold(strings.TrimSpace(about), slug.Empty) {
		sum := sha256.Sum256([]byte(about))
		return "plan-" + hex.EncodeToString(sum[:4])
	}
	if all, i := slug.Ref(about), strings.LastIndexByte(name, '-'); i > 0 && len(all) > len(name) && all[len(name)] != '-' {
		name = name[:i]
	}
	return name
}

// PlanToChange reads the plan as the checkout has it.
func PlanToChange(ctx context.Context, p *project.Project, name string) (plan string, text []byte, err error) {
	plan, inside := p.Rel(name)
	if !inside {
		return "", nil, exit.Inputf("%s is outside the repository %s", name, p.Dir)
	}
	if err := p.LeadsOut(name); err != nil {
		return "", nil, err
	}
	if project.KindOf(plan) != "plan" {
		return "", nil, exit.Usagef("--revise %s: a plan is a markdown file, such as plans/login.md", name)
	}
	file := filepath.Join(p.Dir, filepath.FromSlash(plan))
	st, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint := fmt.Sprintf("To have one written: ralph draft \"what it is for\" -o %s", words.QuotePath(name))
		if was, _, err := begunDraft(ctx, p, ir.NodeID(compiler.DraftSlug(plan))); err == nil && was != nil && was.Epic.Plan == plan {
			hint = fmt.Sprintf("A draft of it exists: ralph draft --epic %s", was.Epic.ID)
		}
		return "", nil, exit.Inputf("there is no plan %s.\n  %s", name, hint)
	case err != nil:
		return "", nil, err
	case !st.Mode().IsRegular():
		return "", nil, exit.Inputf("%s is not a regular file: name the plan itself", name)
	}
	text, err = project.ReadFile(file)
	switch {
	case err != nil:
		return "", nil, err
	case len(text) > MaxBrief:
		return "", nil, exit.Inputf("%s has %d KB; an agent can change a plan of at most %d KB, as it gets all of it", name, len(text)>>10, MaxBrief>>10)
	}
	return plan, text, nil
}

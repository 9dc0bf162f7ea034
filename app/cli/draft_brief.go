package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/internal/slug"
)

// brief is what is wished for, as lines without an empty one at either end.
func (a *draftArgs) brief(in io.Reader, args []string) ([]string, error) {
	var text string
	switch {
	case len(args) > 0 && a.from != "":
		return nil, exit.Usagef("the brief is given twice: as an argument and with --from")
	case len(args) > 0:
		text = args[0]
	case a.from == "-":
		b, err := project.ReadStdin(in)
		if err != nil {
			return nil, err
		}
		text = string(b)
	case a.from != "":
		b, err := project.ReadFile(a.from)
		if err != nil {
			return nil, err
		}
		text = string(b)
	default:
		return nil, exit.Usagef("say what the plan is for: ralph draft \"Add passkey login\", or --from spec.md")
	}
	text = strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"))
	switch {
	case strings.Trim(text, " \t\n#") == "":
		return nil, exit.Usagef("the brief is empty: say what the plan is for")
	case !utf8.ValidString(text):
		return nil, exit.Inputf("the brief is not text in UTF-8: save it so, then try again")
	case len(text) > maxBrief:
		return nil, exit.Inputf("the brief has %d KB; at most %d KB are read: name what matters, and where the rest stands", len(text)>>10, maxBrief>>10)
	}
	return strings.Split(text, "\n"), nil
}

// draftProject is the repository around the current directory: a draft is worked on in
// a worktree of it.
func draftProject() (*project.Project, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	if project.GitRoot(wd) == "" {
		return nil, exit.Inputf("%s is not in a git repository: a plan is drafted in a worktree of one.\n  git init && git add -A && git commit -m begin", wd)
	}
	return project.Open(filepath.Join(wd, "plan.md"))
}

// plan is the path of the plan to be written, relative to the project.
func (a *draftArgs) plan(p *project.Project, brief []string) (string, error) {
	if a.out == "" {
		a.out = filepath.Join(p.Dir, "plans", planName(draft.Subject(draft.Title(brief)))+".md")
	}
	plan, inside := p.Rel(a.out)
	switch {
	case !inside:
		return "", exit.Inputf("%s lies outside of the repository %s", a.out, p.Dir)
	case strings.HasSuffix(a.out, "/") || project.IsDir(a.out):
		return "", exit.Usagef("-o %s is a directory; name the plan's file", a.out)
	case project.KindOf(plan) != "plan":
		return "", exit.Usagef("-o %s: a plan is a markdown file, such as plans/login.md", a.out)
	}
	if err := p.LeadsOut(a.out); err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(plan))); err == nil && !a.print {
		return "", exit.Inputf("%s is there already.\n  To have it changed: ralph draft --revise %s -m \"what to change\"\n  To have another one written: name it with -o", plan, typedPath(p.Dir, plan))
	}
	return plan, nil
}

// planName names a plan after what it is about, as many words as fit; one without Latin
// letters or digits by its hash, so that two of them are two plans.
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

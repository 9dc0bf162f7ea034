package cli

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

func newDiffCommand() *cobra.Command {
	var format string
	var exitCode bool
	cmd := newCommand("diff OLD NEW", "Show what changed between two epics", cobra.ExactArgs(2), func(cmd *cobra.Command, args []string) error {
		project.ShortLived()
		before, err := loadEither(cmd.Context(), args[0], cmd.InOrStdin())
		if err != nil {
			return err
		}
		after, err := loadEither(cmd.Context(), args[1], cmd.InOrStdin())
		if err != nil {
			return err
		}
		d := ir.Diff(before, after)
		out := cmd.OutOrStdout()
		switch format {
		case "text":
			_, err = io.WriteString(out, reveal.Words(d.Text()))
		case "md":
			_, err = io.WriteString(out, d.Markdown())
		case "json":
			err = view.WriteJSON(out, d)
		default:
			return exit.Usagef("--format %s: write text, md or json", format)
		}
		if err != nil {
			return err
		}
		if exitCode && !d.Empty() {
			return &exit.Error{Code: exit.Stale}
		}
		return nil
	})
	cmd.Flags().StringVar(&format, "format", "text", "text, md (a pull-request comment) or json")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit 5 when the epics differ")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "md", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// loadEither reads an epic from a file, or from a revision of git: REV:path. A
// file of that name comes first.
func loadEither(ctx context.Context, name string, in io.Reader) (*ir.Epic, error) {
	rev, path, isRev := strings.Cut(name, ":")
	if _, err := os.Stat(name); err == nil || !isRev || filepath.VolumeName(name) != "" {
		epic, _, err := record.Load(name, in)
		return epic, err
	}
	b, err := gitFile(ctx, rev, path)
	if err != nil {
		return nil, err
	}
	epic, err := ir.Decode(b)
	if err != nil {
		return nil, project.LoadError(name, err)
	}
	return epic, nil
}

// gitTime bounds how long git may take to read one file: a FIFO among its own files would
// block it.
const gitTime = time.Minute

// gitFile reads a file of a revision, relative to the current directory. No
// hook, filter or pager runs.
func gitFile(ctx context.Context, rev, path string) ([]byte, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || path == "" {
		return nil, exit.Usagef("%s:%s is not a revision and a path", rev, path)
	}
	if !strings.HasPrefix(path, "/") {
		path = "./" + path
	} else {
		path = strings.TrimPrefix(path, "/")
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	git := exec.CommandContext(ctx, "git", "cat-file", "blob", rev+":"+path)
	git.WaitDelay = time.Second
	var errOut bytes.Buffer
	out := record.Bounded{Most: ir.MaxBytes}
	git.Stdout, git.Stderr = &out, &errOut
	err := git.Run()
	if ctx.Err() != nil {
		return nil, exit.Inputf("read %s:%s through git: it did not finish (%w)", rev, strings.TrimPrefix(path, "./"), ctx.Err())
	}
	if err != nil && !out.Full {
		text := cmp.Or(strings.TrimSpace(errOut.String()), err.Error())
		return nil, exit.Inputf("read %s:%s through git: %s", rev, strings.TrimPrefix(path, "./"), strings.TrimPrefix(text, "fatal: "))
	}
	if most := project.ReadsUpTo(out.Bytes()); out.Full || int64(len(out.Bytes())) > most {
		return nil, exit.Inputf("%s:%s has more than %d MB", rev, path, most>>20)
	}
	return out.Bytes(), nil
}

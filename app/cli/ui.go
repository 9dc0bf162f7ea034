package cli

import (
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/web"
)

func newUICommand() *cobra.Command {
	var o web.Options
	var noOpen bool
	cmd := newCommand("ui [DIR...]", "Serve a page about the runs of repositories, and decide there", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if o.Dirs = args; len(args) == 0 {
			o.Dirs = []string{"."}
		}
		if o.Port < 0 || o.Port > 65535 {
			return exit.Usagef("--port %d: a port is a number from 1 to 65535", o.Port)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		s, err := web.Listen(ctx, o)
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if !s.UsualPort() {
			view.Sayf(out, "the usual port of this repository is taken: another ralph ui may serve it\n")
		}
		view.Sayf(out, "%s\n", s.Link())
		may := "decide"
		if o.ReadOnly {
			may = "read"
		}
		view.Sayf(cmd.ErrOrStderr(), "The link is for you alone: who has it can %s. Ctrl-C ends the page; runs go on.\n", may)
		if !noOpen && term.IsTerminal(out) {
			openBrowser(s.OpenLink())
		}
		return s.Serve(ctx)
	})
	cmd.Flags().IntVar(&o.Port, "port", 0, "listen on this port of 127.0.0.1 (default: one that belongs to the first repository)")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "do not open a browser")
	cmd.Flags().BoolVar(&o.ReadOnly, "read-only", false, "nothing can be decided on the page")
	return cmd
}

// openBrowser opens a link where the system has a program for that; who has none uses the
// printed link.
func openBrowser(link string) {
	args := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if args == nil {
		args = []string{"xdg-open"}
	}
	cmd := exec.Command(args[0], append(args[1:], link)...)
	if err := cmd.Start(); err == nil {
		go func() { _ = cmd.Wait() }()
	}
}

package shell

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// most bounds the length of a line that is read, in bytes, and deepest how many lines
// are in one another (sh -c "sh -c …"). What is beyond is left out.
const (
	most    = 64 << 10
	deepest = 8
)

// File is a path that a line names, relative to where the line runs, with slashes.
type File struct {
	Path     string
	Program  bool // it is started: a program, or a script that an interpreter reads
	Optional bool // the line asks whether it is there, or goes on where it fails
	Late     bool // something runs before it
	Made     bool // what runs before it is known to make it, or is not known to make nothing
}

// Command is a simple command: a program, without what is before it (env, timeout),
// and its words. An interpreter's script and a shell's line are not its words.
type Command struct {
	Dir   string // where it runs, relative to where the line does
	Words []string
}

// Files lists what a line of shell names, each path once.
func Files(line string) []File {
	r := newReader()
	r.line(fill(line))
	return r.once()
}

// Commands lists the simple commands of a line of shell, those where it is not known in
// which directory they run left out.
func Commands(line string) []Command {
	r := newReader()
	r.line(fill(line))
	return r.commands
}

// Makes lists what a line of shell names as something that it may write: files, or
// directories that they are in.
func Makes(line string) []string {
	r := newReader()
	r.line(fill(line))
	return r.made
}

// ArgvFiles lists what a program is started with that no shell starts.
func ArgvFiles(argv []string) []File {
	var words []word
	for _, a := range argv {
		a = fill(a)
		words = append(words, word{a, !strings.Contains(a, unknown)})
	}
	r := newReader()
	r.command(words)
	return r.once()
}

// reader goes through a line in the order in which it runs.
type reader struct {
	files    []File
	commands []Command
	at       string                  // the directory; "" is not known
	ran      bool                    // something ran
	built    bool                    // something ran that may have made any file
	made     []string                // what was named to something that may write it
	optional bool                    // the line goes on where this fails
	asked    []string                // paths that may be missing here
	funcs    map[string]bool         // functions of the line
	tests    map[syntax.Command]test // those of the line
	depth    int
}

func newReader() *reader {
	return &reader{at: ".", tests: map[syntax.Command]test{}, funcs: map[string]bool{}}
}

// add lists a path.
func (r *reader) add(w word, program bool) {
	if strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "+") {
		return
	}
	if p := r.path(w); p != "" && p != "." {
		r.files = append(r.files, File{p, program, program && (r.optional || r.mayMiss(p)), r.ran, r.built || r.ran && Within(r.made, p)})
	}
}

// path is where a word leads, "" if that is not known or outside.
func (r *reader) path(w word) string {
	at, text := r.at, w.text
	if rest, ok := strings.CutPrefix(text, Top); ok {
		at, text = ".", "."+rest
	}
	if at == "" || !w.plain || text == "" || path.IsAbs(text) || strings.Contains(text, Top) {
		return ""
	}
	p := path.Join(at, text)
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return ""
	}
	return p
}

// mayMiss reports whether the line asked for a path, or for a directory that it is in.
func (r *reader) mayMiss(p string) bool { return Within(r.asked, p) }

// Within reports whether a path is one of these, or in a directory that is.
func Within(paths []string, p string) bool {
	return slices.ContainsFunc(paths, func(a string) bool {
		return strings.HasPrefix(p, a) && (len(p) == len(a) || p[len(a)] == '/')
	})
}

// once lists each path once: as what is started, where it is; as needed, where it is so once.
func (r *reader) once() []File {
	var out []File
	at := map[string]int{}
	for _, f := range r.files {
		i, ok := at[f.Path]
		switch {
		case !ok:
			at[f.Path] = len(out)
			out = append(out, f)
		case f.Program && !out[i].Program:
			out[i] = f
		case f.Program && !f.Optional:
			out[i].Optional = false
		}
	}
	return out
}

// line reads a line of shell; one that is not shell names nothing.
func (r *reader) line(text string) {
	r.apart(func() { r.here(text) })
}

// here reads a line that runs in this shell.
func (r *reader) here(text string) {
	if len(text) > most || r.depth == deepest {
		return
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return
	}
	r.depth++
	r.stmts(file.Stmts)
	r.depth--
}

// apart reads what runs in a process of its own: it does not change the directory.
func (r *reader) apart(read func()) {
	at := r.at
	read()
	r.at = at
}

// branches reads what runs instead of each other, or not at all: a directory that one of
// them leaves is not known behind them.
func (r *reader) branches(reads ...func()) {
	from, to, before, wasBuilt := r.at, r.at, r.ran, r.built
	ran, built := before, wasBuilt
	for _, read := range reads {
		r.at, r.ran, r.built = from, before, wasBuilt
		if read(); r.at != from {
			to = ""
		}
		ran, built = ran || r.ran, built || r.built
	}
	r.at, r.ran, r.built = to, ran, built
}

// where reads with these paths as ones that may be missing.
func (r *reader) where(asked []string, read func()) {
	n := len(r.asked)
	r.asked = append(r.asked[:n:n], asked...)
	read()
	r.asked = append(slices.Clip(r.asked[:n]), r.asked[n+len(asked):]...) // what was asked for meanwhile stays
}

func (r *reader) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		from := r.at
		if r.stmt(s); r.at != from && !firstChanges(s) {
			r.at = "" // a && cd d: only where a ends well
		}
	}
}

// firstChanges reports whether a chain of commands begins with a cd.
func firstChanges(s *syntax.Stmt) bool {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.AndStmt && b.Op != syntax.OrStmt {
			break
		}
		s = b.X
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	return !ok || len(c.Args) > 0 && slices.Contains([]string{"cd", "pushd", "eval"}, c.Args[0].Lit())
}

func (r *reader) stmt(s *syntax.Stmt) {
	if s.Background {
		r.apart(func() { r.run(s) })
		return
	}
	r.run(s)
}

func (r *reader) run(s *syntax.Stmt) {
	for _, d := range s.Redirs {
		if d.Hdoc != nil {
			r.within(d.Hdoc)
		}
		if w := r.word(d.Word); d.Op == syntax.RdrIn {
			r.add(w, false)
		}
	}
	r.cmd(s)
	for _, d := range s.Redirs {
		if !writes[d.Op] || strings.HasPrefix(d.Word.Lit(), "/dev/") {
			continue
		}
		r.ran = true
		if w := textOf(d.Word); w.plain {
			r.writes(w)
		} else {
			r.built = true
		}
	}
}

func (r *reader) cmd(s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(c, s.Redirs)
	case *syntax.BinaryCmd:
		r.binary(c)
	case *syntax.IfClause:
		r.ifClause(c)
	case *syntax.WhileClause:
		r.stmts(c.Cond)
		yes, no := r.asks(last(c.Cond))
		if c.Until {
			yes = no
		}
		r.branches(func() { r.where(yes, func() { r.stmts(c.Do) }) })
	case *syntax.ForClause:
		r.within(c.Loop)
		r.branches(func() { r.stmts(c.Do) })
	case *syntax.CaseClause:
		r.within(c.Word)
		var items []func()
		for _, item := range c.Items {
			items = append(items, func() { r.stmts(item.Stmts) })
		}
		r.branches(items...)
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.Subshell:
		r.apart(func() { r.stmts(c.Stmts) })
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		r.apart(func() { r.stmt(c.Stmt) })
	case *syntax.FuncDecl:
		if c.Name != nil {
			r.funcs[c.Name.Value] = true
		}
		r.apart(func() { r.stmt(c.Body) })
	case *syntax.TestClause:
		yes, no := r.testExpr(c.X)
		r.tests[c] = test{yes, no}
		r.within(c)
	case nil:
	default: // declarations and arithmetic
		r.within(c)
	}
}

// writes are the redirections that make a file.
var writes = map[syntax.RedirOperator]bool{
	syntax.RdrOut: true, syntax.AppOut: true, syntax.RdrInOut: true, syntax.RdrClob: true, syntax.RdrAll: true, syntax.AppAll: true,
}

func (r *reader) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		r.stmt(c.X)
		yes, no := r.asks(c.X)
		r.where(yes, func() { r.stmt(c.Y) })
		r.settled(no, c.Y)
	case syntax.OrStmt:
		from, optional := r.at, r.optional
		r.optional = optional || !r.fails(c.Y)
		r.stmt(c.X)
		r.optional = optional
		yes, no := r.asks(c.X)
		to := r.at
		r.at = from
		r.where(no, func() { r.branches(func() { r.stmt(c.Y) }) })
		if r.at != "" {
			r.at = to
		}
		r.settled(yes, c.Y)
	default: // pipes
		r.apart(func() { r.stmt(c.X) })
		r.apart(func() { r.stmt(c.Y) })
	}
}

func (r *reader) ifClause(c *syntax.IfClause) {
	r.stmts(c.Cond)
	yes, no := r.asks(last(c.Cond))
	branches := []func(){func() { r.where(yes, func() { r.stmts(c.Then) }) }}
	if c.Else != nil {
		branches = append(branches, func() { r.where(no, func() { r.ifClause(c.Else) }) })
	}
	r.branches(branches...)
	r.settled(no, c.Then...)
}

func last(list []*syntax.Stmt) *syntax.Stmt {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// call reads one simple command.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	for _, a := range c.Assigns {
		r.within(a)
	}
	var words []word
	for _, a := range c.Args {
		words = append(words, r.word(a))
	}
	if len(words) == 0 {
		return
	}
	ran, built := r.ran, r.built
	r.tests[c] = r.test(words)
	if !r.command(words) {
		return
	}
	r.ran, r.built = ran, built
	for _, d := range redirs { // a shell that reads its program from there
		switch {
		case d.Hdoc != nil:
			r.line(textOf(d.Hdoc).text)
		case d.Op == syntax.RdrIn:
			r.add(textOf(d.Word), true)
		}
	}
	r.ran, r.built = true, true
}

// checks are programs that make no file of a project, with their first word where only
// that says so: they read, change what is there or remove it.
var checks = set(`actionlint basename cat chgrp chmod chown cmp cut date df diff dirname du egrep eslint fgrep file flake8
	golangci-lint grep head hadolint id jq ls mypy nproc pgrep prettier ps pylint pytest readlink realpath rg rm rmdir ruff
	sha256sum shellcheck shfmt stat tail tr tty uname wc whoami yamllint`)

var checkWords = set(`cargo:check cargo:clippy cargo:fmt git:check-ignore git:diff git:fetch git:grep git:log git:ls-files
	git:rev-parse git:show git:status go:env go:list go:mod go:test go:version go:vet npm:ci npm:install npm:test pip:install
	pip3:install pnpm:install yarn:install`)

// makesNothing reports whether a program is known to make no file that a line then starts.
func makesNothing(name string, args []word) bool {
	return checks[name] || len(args) > 0 && checkWords[name+":"+args[0].text]
}

// writes notes words that name what a program may write.
func (r *reader) writes(words ...word) {
	for _, w := range words {
		if strings.HasPrefix(w.text, "-") {
			var given bool
			if _, w.text, given = strings.Cut(w.text, "="); !given {
				continue
			}
		}
		if p := r.path(w); p != "" && p != "." {
			r.made = append(r.made, p)
		}
	}
}

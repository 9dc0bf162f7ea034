package shell

import (
	"path"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
)

func set(words string) map[string]bool { return lists.Set(strings.Fields(words)) }

// quiet are commands that make no file, and whose words are none.
var quiet = set(": true false echo printf exit return set shopt unset shift popd pwd umask ulimit wait sleep kill read getopts alias")

// prefix is a program that starts the one after it.
type prefix struct {
	value map[string]bool // its options that take the next word
	dir   map[string]bool // those whose value is the directory
	line  map[string]bool // those whose value is a line of shell
	words int             // its own words before the other program
}

var prefixes = map[string]prefix{
	"bundle exec": {},
	"bunx":        {},
	"chronic":     {},
	"chrt":        {value: set("-T -P -D"), words: 1},
	"command":     {},
	"doas":        {value: set("-C -u")},
	"env":         {value: set("-u --unset"), dir: set("-C --chdir"), line: set("-S --split-string")},
	"exec":        {value: set("-a")},
	"flock":       {value: set("-w --timeout -E --conflict-exit-code"), line: set("-c --command"), words: 1},
	"hatch run":   {},
	"ionice":      {value: set("-c --class -n --classdata")},
	"nice":        {value: set("-n --adjustment")},
	"nohup":       {},
	"npx":         {value: set("-p --package"), line: set("-c --call")},
	"parallel":    {value: set("-j --jobs -a --arg-file -I -n --max-args")},
	"pdm run":     {},
	"pipenv run":  {},
	"poetry run":  {},
	"setsid":      {},
	"stdbuf":      {value: set("-i --input -o --output -e --error")},
	"sudo":        {value: set("-u --user -g --group -h --host -p --prompt -C -r -t -T -U"), dir: set("-D --chdir")},
	"taskset":     {words: 1},
	"time":        {value: set("-f --format -o --output")},
	"timeout":     {value: set("-k --kill-after -s --signal"), words: 1},
	"unbuffer":    {},
	"uv run":      {value: set("--with --with-editable --with-requirements --extra --group --env-file -p --python --project --package"), dir: set("--directory")},
	"xargs":       {value: set("-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars")},
	"xvfb-run":    {value: set("-e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args -w --wait")},
}

// interpreter is a program that reads a script.
type interpreter struct {
	name    *lazyregexp.Regexp
	value   map[string]bool // its options that take the next word
	letters string          // those of one letter that take the rest of their word, or the next word
	glued   string          // those of one letter that take the rest of their word
	text    map[string]bool // those after which no script is
	script  map[string]bool // those whose value is a script
	only    bool            // a script is only after these
	shell   bool            // -c makes the first word a line of shell
}

var interpreters = []interpreter{
	{name: lazyregexp.New(`^(?:sh|bash|dash|zsh|ksh|mksh|ash)$`), value: set("-o +o -O +O --rcfile --init-file"), text: set("-s"), shell: true},
	{name: lazyregexp.New(`^(?:python|pypy)[0-9.]*$`), value: set("--check-hash-based-pycs"), letters: "WXQ", text: set("-c -m")},
	{
		name:  lazyregexp.New(`^(?:node|nodejs|tsx|ts-node)$`),
		value: set("--require --import --loader --experimental-loader --conditions --env-file --project --compiler-options --test-reporter --test-name-pattern"), letters: "rCPO", text: set("-e --eval -p --print"),
	},
	{name: lazyregexp.New(`^ruby[0-9.]*$`), letters: "IrE", glued: "iKFTW0x", text: set("-e -C")},
	{name: lazyregexp.New(`^perl[0-9.]*$`), letters: "I", glued: "MmiF0CDxVl", text: set("-e -E")},
	{name: lazyregexp.New(`^php[0-9.]*$`), letters: "dczt", text: set("-r -B -R -F -E -S -a -i -m"), script: set("-f --file")},
	{name: lazyregexp.New(`^(?:lua[0-9.]*|luajit)$`), letters: "le"},
	{name: lazyregexp.New(`^(?:Rscript|tclsh[0-9.]*|expect|groovy|julia)$`), text: set("-c -e")},
	{name: lazyregexp.New(`^(?:[gm]?awk|sed)$`), letters: "vFle", glued: "i", script: set("-f --file"), only: true},
}

// behind gives the words of the program that a prefix starts, and reads what the prefix
// itself names.
func (r *reader) behind(words []word) (rest []word, ok bool) {
	name := program(words[0])
	args := words[1:]
	p, ok := prefixes[name]
	if !ok && len(args) > 0 {
		p, ok = prefixes[name+" "+args[0].text]
		args = args[1:]
	}
	if !ok || name == "command" && asksForCommand(args) {
		return nil, false
	}
	own := p.words
	for len(args) > 0 {
		o := args[0]
		option, value, with := strings.Cut(o.text, "=")
		switch {
		case strings.HasPrefix(o.text, "-"):
			args = args[1:]
			v := word{value, o.plain}
			if !with && (p.value[option] || p.dir[option] || p.line[option]) && len(args) > 0 {
				v, args = args[0], args[1:]
			}
			if p.dir[option] {
				r.goTo(v)
			}
			if p.line[option] {
				r.line(v.text)
				return nil, true
			}
			if option == "--" {
				return args[min(own, len(args)):], true
			}
		case with && sets.MatchString(o.text): // of env, sudo
			args = args[1:]
		case own > 0:
			own--
			args = args[1:]
		default:
			return args, true
		}
	}
	return nil, true
}

var sets = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

// asksForCommand reports whether these words make command(1) only say what it would run.
func asksForCommand(args []word) bool {
	return len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V")
}

// program is the name by which a program is known, "" where it is one of the project.
func program(w word) string {
	if !w.plain || strings.Contains(w.text, "/") && !path.IsAbs(w.text) || strings.HasPrefix(w.text, Top) {
		return ""
	}
	return path.Base(w.text)
}

// command reads the words of one command. It reports whether that is a shell which
// reads what it runs from its input.
func (r *reader) command(words []word) (stdin bool) {
	at := r.at
	for len(words) > 0 {
		rest, ok := r.behind(words)
		if !ok {
			break
		}
		words = rest
	}
	if len(words) == 0 || r.builtin(words) {
		return false
	}
	defer func() { r.at = at }()
	name, args := program(words[0]), words[1:]
	if name == "find" {
		r.find(args)
		return false
	}
	for _, in := range interpreters {
		if in.name.MatchString(name) {
			return r.interpret(in, args)
		}
	}
	if strings.Contains(words[0].text, "/") {
		r.add(words[0], true)
	}
	if r.at != "" {
		c := Command{Dir: r.at}
		for _, w := range words {
			c.Words = append(c.Words, w.text)
		}
		r.commands = append(r.commands, c)
	}
	for _, a := range args {
		r.add(a, false)
	}
	r.ran = true
	if !makesNothing(name, args) {
		r.built = true
		r.writes(args...)
	}
	return false
}

// builtin reads a command that the shell itself runs, and those that make no file.
func (r *reader) builtin(words []word) bool {
	name, args := program(words[0]), words[1:]
	switch name {
	case "cd", "pushd":
		for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && args[0].text != "-" {
			args = args[1:]
		}
		if len(args) == 0 {
			args = []word{{}}
		}
		r.goTo(args[0])
	case "popd":
		r.at = ""
	case ".", "source":
		for i, a := range args {
			r.add(a, i == 0)
		}
		r.ran = true
	case "eval":
		var line []string
		for _, a := range args {
			line = append(line, a.text)
		}
		r.here(strings.Join(line, " "))
	case "trap":
		if len(args) > 1 {
			r.line(args[0].text)
		}
	case "test", "[":
		for i, a := range args {
			if i > 0 && fileTests[args[i-1].text] {
				r.add(a, false)
			}
		}
	case "command", "type", "which", "hash":
		for _, a := range args {
			if strings.Contains(a.text, "/") {
				r.add(a, false)
			}
		}
	default:
		return quiet[name]
	}
	return true
}

// goTo changes the directory.
func (r *reader) goTo(dir word) {
	if dir.text == "-" {
		dir.text = ""
	}
	r.at = r.path(dir)
}

// find reads the commands that find(1) starts.
func (r *reader) find(args []word) {
	for i, a := range args {
		switch a.text {
		case "-execdir", "-okdir": // where, is not known
		case "-exec", "-ok":
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			if end > i+1 {
				r.command(args[i+1 : end])
			}
		}
	}
}

// options are those of an interpreter, as far as they are read.
type options struct {
	in      interpreter
	args    []word
	i       int          // of the word that comes next
	scripts map[int]bool // words that are scripts
	line    bool         // the first word is a line of shell
	text    bool         // no script follows
}

// long reads an option of more than one letter.
func (o *options) long(r *reader) {
	name, value, with := strings.Cut(o.args[o.i].text, "=")
	switch in := &o.in; {
	case with && in.script[name]:
		r.add(word{value, o.args[o.i].plain}, true)
		in.only = true
	case with:
	case in.script[name]:
		o.i++
		o.scripts[o.i], in.only = true, true
	case in.value[name]:
		o.i++
	case in.text[name]:
		o.text = true
	}
}

// letters reads options of one letter that are in one word.
func (o *options) letters(r *reader) {
	at, in := o.args[o.i], &o.in
	for j := 1; j < len(at.text); j++ {
		letter, rest := at.text[j:j+1], at.text[j+1:]
		name := "-" + letter
		switch {
		case in.shell && letter == "c":
			o.line = true
			continue
		case in.shell && in.value[name]:
			o.i++
			continue
		case in.text[name]:
			o.text = true
		case in.script[name] && rest != "":
			r.add(word{rest, at.plain}, true)
			in.only = true
		case in.script[name]:
			o.i++
			o.scripts[o.i], in.only = true, true
		case strings.Contains(in.letters, letter) && rest == "":
			o.i++
		case strings.Contains(in.letters, letter), strings.Contains(in.glued, letter):
		default:
			continue
		}
		return
	}
}

// interpret reads the words after an interpreter. It reports whether that is a shell
// which reads what it runs from its input.
func (r *reader) interpret(in interpreter, args []word) (stdin bool) {
	o := options{in: in, args: args, scripts: map[int]bool{}}
	for ; o.i < len(args) && !o.text; o.i++ {
		at := args[o.i].text
		if option := strings.HasPrefix(at, "-") || in.shell && strings.HasPrefix(at, "+"); !option || at == "-" || at == "--" {
			break
		}
		if strings.HasPrefix(at, "--") || in.value[at] {
			o.long(r)
		} else {
			o.letters(r)
		}
	}
	i := o.i
	if i < len(args) && args[i].text == "--" {
		i++
	}
	switch {
	case o.line && i < len(args):
		r.line(args[i].text)
		return false
	case o.text, o.in.only:
	case i >= len(args), args[i].text == "-":
		stdin = in.shell
	default:
		o.scripts[i] = true
	}
	for i, a := range args {
		r.add(a, o.scripts[i])
		if !o.scripts[i] {
			r.writes(a)
		}
	}
	r.ran, r.built = true, true
	return stdin || in.shell && o.text
}

package policies

import (
	"errors"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// Runner is the block `runner "n"`: what executes an agent.
type Runner struct {
	Decl
	Kind        Value[string]   // command, claude, opencode, codex, acp
	Run         Value[[]string] // argv; may hold ${run.…}
	Prompt      Value[string]   // stdin, file, arg
	Env         Value[[]string] // names let through; the kind's default list if not Set
	Assign      Value[map[string]string]
	Secrets     Value[[]string]
	Outcome     Value[string] // optional, required
	Concurrent  Value[int]    // 0: no limit
	RPM         Value[int]    // 0: no limit
	LimitedWhen *LimitedWhen  // nil: never
}

// LimitedWhen recognises a rate limit in what a program printed.
type LimitedWhen struct {
	ExitCode Value[int]
	Output   Value[string] // regular expression (RE2), optional group "until"
}

// Secret is the block `secret "N"`.
type Secret struct {
	Decl
	Env Value[string] // the variable it is read from when running; its own name if not Set
}

var runnerBlock = &block{
	name: "runner", label: "name",
	doc: "what executes an agent",
	attrs: []attr{
		descriptionAttr,
		{name: "kind", kind: kEnum, enum: []string{"acp", "claude", "codex", "command", "opencode"}, required: true, doc: "command, claude, opencode, codex or acp"},
		{name: "run", kind: kArgv, run: true, doc: `the program and its arguments, such as ["my-agent", "--once"]`},
		{name: "prompt", kind: kEnum, enum: []string{"arg", "file", "stdin"}, doc: "how the program gets the prompt: stdin, file or arg"},
		{name: "env", kind: kStrings, run: true, doc: `names of variables that are let through; "NAME=value" sets one`},
		{name: "secrets", kind: kRefs, ref: "secret", doc: "the secrets that its processes get"},
		{name: "outcome", kind: kEnum, enum: []string{"optional", "required"}, doc: "whether the program must report an outcome: optional or required"},
	},
	blocks: []*block{
		{name: "limits", doc: "how much of it at once", attrs: []attr{
			{name: "concurrent", kind: kInt, min: 1, doc: "agents at the same time"},
			{name: "rpm", kind: kInt, min: 1, doc: "starts a minute"},
		}},
		{name: "limited_when", doc: "how a rate limit shows", attrs: []attr{
			{name: "exit_code", kind: kInt, min: 0, max: 255, doc: "the exit code of a rate limit"},
			{name: "output", kind: kRegex, doc: "a regular expression over the output, with an optional group \"until\""},
		}},
	},
}

// DefaultEnv returns the names of the variables that runners of a kind let
// through when they say nothing. Keys of providers are among them only where
// the kind's program reads them itself.
func DefaultEnv(kind string) []string {
	names := []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
	switch kind {
	case "claude":
		names = append(names, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR")
	case "opencode":
		names = append(names, "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
	case "codex":
		names = append(names, "CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL")
	case "acp":
		names = append(names, "XDG_CONFIG_HOME", "XDG_DATA_HOME") // where programs keep their logins
	}
	slices.Sort(names)
	return names
}

func (r *reader) runner(decl Decl) *Runner {
	out := &Runner{
		Decl:    decl,
		Kind:    r.enum("kind"),
		Run:     or(r.plainCommands("run", r.argv("run")), []string{}),
		Prompt:  or(r.enum("prompt"), "stdin"),
		Secrets: or(r.refs("secrets"), []string{}),
		Outcome: or(r.enum("outcome"), "optional"),
		Assign:  Value[map[string]string]{V: map[string]string{}},
	}
	r.runnerEnv(out)
	if l := r.one("limits"); l != nil {
		out.Concurrent, out.RPM = l.integer("concurrent"), l.integer("rpm")
	}
	if l := r.one("limited_when"); l != nil {
		out.LimitedWhen = &LimitedWhen{ExitCode: l.integer("exit_code"), Output: l.pattern("output")}
		if !out.LimitedWhen.ExitCode.Set && !out.LimitedWhen.Output.Set {
			r.d.diags.Add(diag.New("policy-missing-attribute", l.at, "limited_when says nothing").
				WithDetail("Without exit_code and output no rate limit is ever recognised. Write exit_code = 75 or output = \"rate limit\"."))
			out.LimitedWhen = nil
		}
	}
	if out.Kind.V == "command" && !out.Run.Set {
		r.d.diags.Add(diag.New("policy-missing-attribute", r.missing, `"run" is missing`).
			WithDetail("A runner of kind command starts a program. Write run = [\"PROGRAM\", \"ARGUMENT\"].").WithRelated(r.at, "the block begins here"))
	}
	if out.Kind.V == "acp" && !out.Run.Set {
		r.d.diags.Add(diag.New("policy-missing-attribute", r.missing, `"run" is missing`).
			WithDetail("A runner of kind acp starts a program that speaks the Agent Client Protocol. Write run = [\"opencode\", \"acp\"].").WithRelated(r.at, "the block begins here"))
	}
	return out
}

// runnerEnv splits the list env into names that are let through and values.
func (r *reader) runnerEnv(out *Runner) {
	env := r.strs("env")
	out.Env = Value[[]string]{V: DefaultEnv(out.Kind.V), Origin: "default"}
	if !env.Set {
		return
	}
	out.Env = Value[[]string]{V: []string{}, Set: true, Range: env.Range, Origin: env.Origin}
	for _, e := range env.V {
		name, value, assigned := strings.Cut(e, "=")
		switch {
		case !envName(name):
			r.invalid("env", env.Range, errors.New(quoted(name)+" is no name of a variable"))
		case assigned:
			out.Assign.V[name] = runTemplate(value)
			out.Assign.Set, out.Assign.Range, out.Assign.Origin = true, env.Range, env.Origin
		case !slices.Contains(out.Env.V, name):
			out.Env.V = append(out.Env.V, name)
		}
	}
	slices.Sort(out.Env.V)
}

func envName(s string) bool {
	for i, c := range []byte(s) {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

var secretBlock = &block{
	name: "secret", label: "name",
	doc: "a value that the epic knows by name only",
	attrs: []attr{
		descriptionAttr,
		{name: "env", kind: kString, doc: "the variable that it is read from when running"},
	},
}

func (r *reader) secret(decl Decl) *Secret {
	s := &Secret{Decl: decl, Env: or(r.str("env"), decl.Name)}
	if !envName(s.Env.V) {
		at := s.Env.Range
		if at.IsZero() {
			at = decl.Range
		}
		r.invalid("env", at, errors.New(quoted(s.Env.V)+" is no name of a variable"))
	}
	return s
}

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
	Kind         Value[string]   `hcl:"kind" enum:"acp claude codex command opencode" with:"required" doc:"command, claude, opencode, codex or acp"`
	Run          Value[[]string] `hcl:"run=" is:"argv" with:"run" doc:"the program and its arguments, such as [\"my-agent\", \"--once\"]"` // argv; may hold ${run.…}
	Prompt       Value[string]   `hcl:"prompt=stdin" enum:"arg file stdin" doc:"how the program gets the prompt: stdin, file or arg"`
	Env          Value[[]string] // names let through; the kind's default list if not Set
	Assign       Value[map[string]string]
	Secrets      Value[[]string] `hcl:"secrets=" ref:"secret" doc:"the secrets that its processes get"`
	Outcome      Value[string]   `hcl:"outcome=optional" enum:"optional required" doc:"whether the program must report an outcome: optional or required"`
	RunnerLimits `hcl:"limits" doc:"how much of it at once"`
	LimitedWhen  *LimitedWhen `hcl:"limited_when" doc:"how a rate limit shows"` // nil: never
}

// RunnerLimits is the block `limits {}` of a runner; 0 is no limit.
type RunnerLimits struct {
	Concurrent Value[int] `hcl:"concurrent" min:"1" doc:"agents at the same time"`
	RPM        Value[int] `hcl:"rpm" min:"1" doc:"starts a minute"`
}

// LimitedWhen recognises a rate limit in what a program printed.
type LimitedWhen struct {
	ExitCode Value[int]    `hcl:"exit_code" min:"0" max:"255" doc:"the exit code of a rate limit"`
	Output   Value[string] `hcl:"output" is:"regex" doc:"a regular expression over the output, with an optional group \"until\""` // regular expression (RE2), optional group "until"
}

// Secret is the block `secret "N"`.
type Secret struct {
	Decl
	Env Value[string] `hcl:"env" doc:"the variable that it is read from when running"` // the variable it is read from when running; its own name if not Set
}

var runnerBlock = &block{
	of:   (*Runner)(nil),
	name: "runner", label: "name",
	doc: "what executes an agent",
	attrs: []attr{
		descriptionAttr,
		{name: "env", kind: kStrings, run: true, doc: `names of variables that are let through; "NAME=value" sets one`},
	},
}

// DefaultEnv returns the names of the variables that runners of a kind let through by
// default. Provider keys are included only if the kind's program reads them itself.
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

func (l *LimitedWhen) check(r *reader) {
	if !l.ExitCode.Set && !l.Output.Set {
		r.d.diags.Add(diag.New("policy-missing-attribute", r.at, "limited_when says nothing").
			WithDetail("Without exit_code and output no rate limit is ever recognised. Write exit_code = 75 or output = \"rate limit\"."))
	}
}

func (out *Runner) check(r *reader) {
	r.plainCommands("run", out.Run)
	r.runnerEnv(out)
	if l := out.LimitedWhen; l != nil && !l.ExitCode.Set && !l.Output.Set {
		out.LimitedWhen = nil
	}
	for kind, what := range map[string]string{
		"command": "A runner of kind command starts a program. Write run = [\"PROGRAM\", \"ARGUMENT\"].",
		"acp":     "A runner of kind acp starts a program that speaks the Agent Client Protocol. Write run = [\"opencode\", \"acp\"].",
	} {
		if out.Kind.V == kind && !out.Run.Set {
			r.d.diags.Add(diag.New("policy-missing-attribute", r.missing, `"run" is missing`).WithDetail("%s", what).WithRelated(r.at, "the block begins here"))
		}
	}
}

// runnerEnv splits the list env into names that are let through and values.
func (r *reader) runnerEnv(out *Runner) {
	var env Value[[]string]
	env.read(r, "env")
	out.Assign.V = map[string]string{}
	out.Env = Value[[]string]{V: DefaultEnv(out.Kind.V), Origin: "default"}
	if !env.Set {
		return
	}
	out.Env = Value[[]string]{V: []string{}, Set: true, Range: env.Range, Origin: env.Origin}
	for _, e := range env.V {
		name, value, assigned := strings.Cut(e, "=")
		switch {
		case !envName(name):
			r.invalid("env", env.Range, errors.New(quoted(name)+"is not the name of a variable"))
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
	of:   (*Secret)(nil),
	name: "secret", label: "name",
	doc:   "a value that the epic knows by name only",
	attrs: []attr{descriptionAttr},
}

func (s *Secret) check(r *reader) {
	s.Env = or(s.Env, s.Name)
	if !envName(s.Env.V) {
		at := s.Env.Range
		if at.IsZero() {
			at = s.Range
		}
		r.invalid("env", at, errors.New(quoted(s.Env.V)+"is not the name of a variable"))
	}
}

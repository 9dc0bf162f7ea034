# Policy: how the work of a plan is done. The plan says what.
# `ralph compile` reads this file and policies/*.hcl; nothing else evaluates it.
# `ralph init --builtin` prints what holds where nothing is written here.

runner "claude" {
  kind = "claude"
}

agent "developer" {
  path         = ".claude/agents/developer.md"
  runner       = runner.claude
  model        = "sonnet"
  capabilities = ["implement", "debug", "test"]
  access       = "write"
  fallback     = [agent.developer-opus]
}

# Stands in when the developer's model cannot be reached.
agent "developer-opus" {
  path         = ".claude/agents/developer.md"
  runner       = runner.claude
  model        = "opus"
  capabilities = ["implement", "debug", "test"]
  access       = "write"
  priority     = -1
}

agent "reviewer" {
  path         = ".claude/agents/reviewer.md"
  runner       = runner.claude
  model        = "opus"
  capabilities = ["review"]
  access       = "read"
}

# Who looks around and who writes the plan in `ralph draft`.
agent "explorer" {
  path         = ".claude/agents/explorer.md"
  runner       = runner.claude
  model        = "sonnet"
  capabilities = ["explore"]
  access       = "read"
}

agent "planner" {
  path         = ".claude/agents/planner.md"
  runner       = runner.claude
  model        = "opus"
  capabilities = ["plan"]
  access       = "write"
}

# Where agents, gates and setup run: they see the worktree, a home directory of their
# own and the system's programs, and nothing else of this machine. Agents and judges
# reach their model, commands no host. A sandbox of another name can be given to one
# step or gate: `sandbox = sandbox.NAME`, or `sandbox = sandbox.none`.
sandbox "default" {
  kind    = {{quote .Sandbox.Kind}}
  network = {{list .Sandbox.Network}}
}

worktree {
  layout = "clone"
{{- if .Setup}}

  # What a fresh worktree needs before agents and gates can work in it. What is not in
  # your caches needs its host: network = ["packages.example.com"].
  setup = {{list .Setup}}
{{- end}}
}
{{range .Gates}}
# A gate judges every attempt, on exactly what the agent committed.{{if .Listed}} What this
# command is defined by, and the tests that are there, are not for the agents that it
# judges: to change, add or remove one of these files fails the attempt. Other new
# tests are welcome. Take out of protect what a sprint has to change.
{{- else if .Protect}} What this
# command is defined by is not for the agents that it judges: to change, add or remove
# one of these files fails the attempt. Take out of protect what a sprint has to change.
{{- end}}{{if .Tests}}
# The {{.Tests}} files of tests are not protected: list those that no agent may change.
{{- else if and .Protect (not .Listed)}}
# Your tests are not protected, as it is not known which files they are: add them, such
# as "tests/**".{{end}}
gate "{{.Name}}" {
  kind        = "command"
  run         = {{quote .Command}}
  timeout     = "10m"{{if .Green}}
  baseline    = "green"{{end}}{{if .Protect}}
  protect     = {{list .Protect}}
  protect_new = false{{end}}
}
{{else}}
# No test command was recognised in this project. A gate judges every attempt, on
# exactly what the agent committed: write your command, take the # away, and put
# gate.tests into the list of the step below.
#
# gate "tests" {
#   kind    = "command"
#   run     = "make test"
#   timeout = "10m"
#   protect = ["Makefile"]
# }
{{end}}
# Nothing starts before a person has approved this very epic.json: ralph approve.
hitl {
  plan = "required"
}

# What one run may cost. A run that was interrupted, or held by its budget, counts
# on; one that ended by itself is over, and the next begins at 0. Used up, nothing
# new starts, and it waits for you: ralph resume --budget adds to the present run.
budget {
  usd  = 25
  wall = "10h"
}

policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    gates        = [{{range $i, $g := .Gates}}{{if $i}}, {{end}}gate.{{$g.Name}}{{end}}]
    timeout      = "20m"

    retry {
      attempts = 3
    }
  }
}

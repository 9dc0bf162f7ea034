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

# A gate judges every attempt. This one runs your tests on exactly what the
# agent committed; replace the command by yours.
gate "tests" {
  kind    = "command"
  run     = "make test"
  timeout = "10m"
}

policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.tests]
    timeout      = "20m"

    retry {
      attempts = 3
    }
  }
}

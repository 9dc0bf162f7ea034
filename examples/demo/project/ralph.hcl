# The agents of this demo are shell scripts and say so. A real project writes
# kind = "claude" here, and nothing else changes. The scripts are read when the
# plan is compiled: what an agent is told to be stands in epic.json.
locals {
  go = ["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "GOCACHE", "GOFLAGS", "GOPATH", "GOMODCACHE"]
}

runner "coder" {
  kind = "command"
  run  = ["sh", "-c", file("agents/coder.sh")]
  env  = local.go
}

runner "tester" {
  kind = "command"
  run  = ["sh", "-c", file("agents/tester.sh")]
  env  = local.go
}

runner "reviewer" {
  kind = "command"
  run  = ["sh", "-c", file("agents/reviewer.sh")]
}

agent "coder" {
  runner       = runner.coder
  capabilities = ["implement"]
  access       = "write"
  priority     = 50
}

# Takes over where the coder cannot: an agent that is alone is a weak point, and
# ralph says so.
agent "stand-in" {
  runner       = runner.coder
  capabilities = ["implement"]
  access       = "write"
  priority     = 10
}

agent "tester" {
  runner       = runner.tester
  capabilities = ["test"]
  access       = "read"
}

agent "reviewer" {
  runner       = runner.reviewer
  capabilities = ["review"]
  access       = "read"
}

# The compiler and the tests. Tests that were there when a sprint began are not
# the coder's to change.
gate "unit" {
  kind    = "command"
  run     = "go test ./..."
  timeout = "1m"
  protect = ["**/*_test.go", "go.mod"]
}

# A tester tries the acceptance criteria by hand, also those that the coder wrote
# no test for.
gate "qa" {
  kind    = "agent"
  agent   = agent.tester
  prompt  = "Try every acceptance criterion in this worktree. Name those that do not hold."
  sees    = ["acceptance"]
  timeout = "1m"
}

# What is critical (the word "authentication" makes 2.1 so) is also read by
# somebody who sees the criteria and the diff, and nothing else.
gate "blind-review" {
  kind    = "review"
  agent   = agent.reviewer
  timeout = "1m"
}

policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit, gate.qa]
    timeout      = "1m"

    retry {
      attempts = 3
      initial  = "1s"
    }
  }
}

# Agents and gates see their worktree, a home of their own and your Go caches, which they
# cannot change. They reach no network.
sandbox "default" {
  kind    = "auto"
  network = []
}

# Real runs keep 10 GB free; this one writes a few kilobytes.
worktree {
  layout   = "clone"
  min_free = "50MB"
}

# The agents of this demo are shell scripts; a real project says
# kind = "claude" here and nothing else changes.
runner "script" {
  kind = "command"
  run  = ["sh", "agents/coder.sh"]
}

agent "coder" {
  runner       = runner.script
  capabilities = ["implement"]
  access       = "write"
  priority     = 50
}

# Takes over where the coder cannot: an agent that is alone is a weak point, and
# ralph says so.
agent "stand-in" {
  runner       = runner.script
  capabilities = ["implement"]
  access       = "write"
  priority     = 10
}

gate "unit" {
  kind    = "command"
  run     = "sh tests/run.sh"
  timeout = "1m"
  protect = ["tests/**", "bin/**"]
}

policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit]
    timeout      = "1m"

    retry {
      attempts = 3
      initial  = "1s"
    }
  }
}

# Real runs keep 10 GB free; this one writes a few kilobytes.
worktree {
  min_free = "50MB"
}

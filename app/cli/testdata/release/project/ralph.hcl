runner "sh" {
  kind = "command"
  run  = ["sh", "-c", file("agent.sh")]
  env  = ["PATH", "HOME"]
}

agent "dev" {
  runner       = runner.sh
  capabilities = ["implement"]
  access       = "write"
}

agent "other" {
  runner       = runner.sh
  capabilities = ["implement"]
  access       = "write"
}

gate "check" {
  kind = "command"
  run  = "if grep -s bad out-*.txt; then echo 'there is a bad line'; exit 1; fi"
}

gate "never" {
  kind       = "command"
  run        = "echo 'this must never be tried again'; exit 1"
  on_failure = "stop"
}

policy "default" {
  default = true

  step "implement" {
    agent = agent.dev
    gates = [gate.check]

    retry {
      attempts = 3
      initial  = "10ms"
    }
  }
}

policy "stops" {
  match {
    label = ["stops"]
  }

  step "implement" {
    agent = agent.dev
    gates = [gate.never]
  }
}

worktree {
  min_free = "1MB"
}

# Limits and settings of everything that says nothing else.
limits {
  attempts       = 3     # agent, then gates
  breaker        = 2     # the same failure in a row
  runner_retries = 5     # crash, lost connection: never counted as attempts
  timeout        = "20m" # one attempt of a step
  command_gate   = "5m"
  agent_gate     = "10m"
  review_gate    = "10m"
  human_gate     = "0s" # waits for ever
}

retry {
  attempts       = 3
  backoff        = "exponential"
  initial        = "5s"
  max            = "5m"
  jitter         = "0%"
  runner_retries = 5
}

stall {
  after  = "5m"
  action = "fail"
}

budget {
  on_exceed = "pause"
}

hitl {
  level            = "gates"
  plan             = "auto"
  on_human_message = "pause"
  idle_cooldown    = "2m"
}

git {
  branch   = "ralph/{epic}/{sprint}-{slug}"
  worktree = "../{repo}-worktrees/{branch}"
  cleanup  = "never"
  commit   = "each"
  remote   = "origin"
}

worktree {
  min_free   = "10GB"
  max_commit = "256MB"
  submodules = false
  layout     = "clone"
}

integration {
  mode = "dag"
  pr   = "none"
}

concurrency {
  nodes = 10
}

sandbox "none" {
  kind = "none"
}

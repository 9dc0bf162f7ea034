runner "claude" {
  kind = "claude"
}

agent "go-backend-dev" {
  runner       = runner.claude
  model        = "sonnet"
  capabilities = ["implement", "debug", "test"]
  access       = "write"
}

agent "frontend-dev" {
  runner       = runner.claude
  model        = "sonnet"
  capabilities = ["implement"]
  access       = "write"
  priority     = -1
}

agent "reviewer" {
  runner       = runner.claude
  model        = "opus"
  capabilities = ["review"]
  access       = "read"
}

gate "unit" {
  kind    = "command"
  run     = "go test ./... -count=1"
  timeout = "10m"
  protect = ["**/*_test.go"]
}

policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit]
    timeout      = "20m"

    retry {
      attempts = 3
    }
  }
}

rule "critical-needs-a-person" {
  when    = node.complexity == "critical"
  assert  = anytrue([for g in node.gates : g.kind == "human"])
  message = "sprint ${node.key} is critical and no person approves it"
}

waive "critical-needs-a-person" {
  node   = "1.2a"
  reason = "there is no data yet: a wrong migration costs nothing"
  owner  = "@ada"
  until  = "2027-06-30"
}

runner "script" {
  kind = "command"
  run  = ["sh", "agent.sh"]
  env  = ["PATH", "HOLD"]
}
agent "coder" {
  runner       = runner.script
  capabilities = ["implement"]
  access       = "write"
}
gate "unit" {
  kind = "command"
  run  = "if [ -e out-1.2.txt ]; then echo 'FAIL TestRefund: got 0, want 12.50'; exit 1; fi"
}
gate "sign-off" {
  kind      = "human"
  approvers = ["ada"]
}
policy "default" {
  default = true
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit]
  }
  retry {
    attempts = 2
    initial  = "10ms"
  }
}
policy "looked-at" {
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit, gate.sign-off]
  }
}

# What executes an agent. Claude Code is the runner of agents that name none.
runner "claude" {
  kind = "claude"
}

# Agents for a project that declares none. As soon as your policy declares an
# agent, these are only a last resort.
agent "default" {
  description  = "does anything a sprint asks for"
  runner       = runner.claude
  model        = "sonnet"
  capabilities = ["all"]
  access       = "write"
}

agent "reviewer" {
  description  = "judges without changing anything"
  runner       = runner.claude
  model        = "sonnet"
  capabilities = ["review", "test", "analyze"]
  access       = "read"
}

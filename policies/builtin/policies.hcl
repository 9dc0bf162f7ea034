# What is below every other policy: one step, judged by the gates of the plan.
policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    access       = "write"
    timeout      = "20m"
  }
}

# Five steps, chosen by name: **Policy**: workflow.
policy "workflow" {
  step "plan" {
    capabilities = ["plan"]
    access       = "read"
    timeout      = "20m"
  }

  step "implement" {
    capabilities = ["implement"]
    access       = "write"
    timeout      = "20m"
  }

  step "test" {
    capabilities = ["test"]
    access       = "write"
    timeout      = "20m"
    allow_empty  = true
    next         = "implement"
  }

  step "review" {
    capabilities = ["review"]
    access       = "read"
    timeout      = "10m"
    next         = "implement"
  }

  step "human_review" {
    capabilities = ["human_review"]
    access       = "read"
    approval     = true
    next         = "implement"
  }
}

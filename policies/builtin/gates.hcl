# The blind review of critical sprints: a reader who knows the acceptance criteria
# and the change, and nothing of how it was made.
gate "blind-review" {
  kind         = "review"
  capabilities = ["review"]
  sees         = ["acceptance", "diff"]
  prompt       = "Judge the change against the acceptance criteria alone. Say fail and what is missing when one is not met, stop when going on would do harm."

  output {
    field "status" {
      enum = ["pass", "fail", "stop"]
    }
    field "message" {
      description = "what was found, for the agent that has to fix it"
    }
    field "details" {
      type     = "object"
      required = false
    }
  }
}

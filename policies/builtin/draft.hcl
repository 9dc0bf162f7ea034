# How `ralph draft` has plans written. agents and explorers: those that have the
# capabilities plan and explore; attempts: what the complexity of the wish says.
draft {
  max_sprint {
    tasks    = 12
    files    = 20
    estimate = "8h"
  }
}

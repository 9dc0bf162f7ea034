# How plans are written. The first is the default; choose another one with
# `dialect` in the front matter or in ralph { }, or with --dialect.
# Patterns are regular expressions (RE2) of the whole id. Without keywords the id
# stands alone.
dialect "sprint" {
  description   = "### Sprint 1.2a: Title, below ## Phase 1: Name"
  letters       = "parallel"
  ignore_case   = false
  numbers       = "always"
  groups        = "barrier"
  parallel_mark = ""
  explicit      = "replace"

  phase {
    keywords = ["Phase"]
    id       = "[0-9]+[a-z]*"
  }
  item {
    in       = "heading"
    keywords = ["Sprint"]
    id       = "[0-9]+[a-z]*\\.[0-9]+[a-z]*"
  }
  columns {
    id      = ["ID", "#", "No", "Nr", "Key", "Sprint", "Task ID"]
    title   = ["Title", "Name", "Task", "Item", "Description", "Summary", "What"]
    depends = ["Depends on", "Dependencies", "Dependency", "Prerequisites", "After", "Blocked by"]
  }
}

dialect "task" {
  description = "### Task 1.2: Title (also Story, Step, TASK-1), in groups such as ## Phase 1"
  extends     = dialect.sprint
  numbers     = "unless_explicit"
  groups      = "barrier"

  phase {
    keywords = ["Phase", "Sprint", "Epic", "Milestone", "Wave"]
    id       = "[0-9]+[a-z]*"
  }
  item {
    keywords = ["Task", "Story", "Step"]
    id       = "[0-9]+[a-z]*([.-][0-9]+[a-z]*)*"
  }
}

dialect "code" {
  description = "### FE-03-004: Title, a heading that begins with a code"
  extends     = dialect.task

  item {
    keywords = []
    id       = "[A-Z][A-Z0-9]*([-.][A-Z0-9]+)*[-.][A-Z]*[0-9]+[a-z]*"
  }
}

dialect "integer" {
  description = "## Sprint 3: Title; phase headings above are text"
  extends     = dialect.sprint
  numbers     = "unless_explicit"
  groups      = "chain"

  phase {}
  item {
    keywords = ["Sprint"]
    id       = "[0-9]+[a-z]*"
  }
}

dialect "phase" {
  description = "## Phase 3: Title, the phases themselves are the items"
  extends     = dialect.sprint
  numbers     = "unless_explicit"
  groups      = "chain"

  phase {}
  item {
    keywords = ["Phase"]
    id       = "[0-9]+[a-z]*"
  }
}

dialect "section" {
  description = "### 1.1 Title, numbered sections"
  extends     = dialect.sprint
  numbers     = "unless_explicit"
  groups      = "barrier"

  phase {
    keywords = []
    id       = "[0-9]+[a-z]*"
  }
  item {
    keywords = []
    id       = "[0-9]+[a-z]*\\.[0-9]+[a-z]*"
  }
}

dialect "bold-task" {
  description = "**Task P1.1: Title** as a line of its own, behind a bullet or a checkbox"
  extends     = dialect.task

  item {
    in       = "bold"
    keywords = ["Task", "Story", "Step"]
    id       = "[A-Z]*-?[0-9]+[a-z]*(\\.[0-9]+[a-z]*)*"
  }
}

dialect "checklist" {
  description   = "- [ ] 1.1 Title (OpenSpec, Kiro)"
  extends       = dialect.sprint
  numbers       = "unless_explicit"
  groups        = "chain"
  parallel_mark = "(P)"

  phase {}
  item {
    in       = "checkbox"
    keywords = []
    id       = "[0-9]+[a-z]*(\\.[0-9]+[a-z]*)*"
  }
}

dialect "spec-kit" {
  description   = "- [ ] T001 [P] [US1] Title, below ## Phase 1: Name"
  extends       = dialect.sprint
  letters       = "sequence"
  numbers       = "always"
  groups        = "barrier"
  parallel_mark = "[P]"
  explicit      = "add"

  phase {
    keywords = ["Phase", "Final Phase"]
    id       = ""
  }
  item {
    in       = "checkbox"
    keywords = []
    id       = "T[0-9]+[A-Za-z]*"
  }
}

dialect "table" {
  description = "rows of a table with a column of ids"
  extends     = dialect.sprint
  numbers     = "unless_explicit"
  groups      = "chain"

  phase {}
  item {
    in       = "table"
    keywords = []
    id       = "[A-Za-z]*[-.]?[0-9]+[a-z]*([-.][0-9]+[a-z]*)*"
  }
}

dialect "todo" {
  description = "every check box that is in no other one; its place is its id, unless it begins with one such as #12"
  extends     = dialect.sprint
  numbers     = "always"
  groups      = "chain"

  phase {}
  item {
    in       = "todo"
    keywords = []
    id       = "#[0-9]+"
  }
}

# The key of the list is a keyword; the columns are the keys of its entries.
dialect "cursor" {
  description = "entries of the front matter's todos: id, content, status (plans of Cursor)"
  extends     = dialect.sprint
  numbers     = "unless_explicit"
  groups      = "chain"

  phase {}
  item {
    in       = "front_matter"
    keywords = ["todos"]
    id       = "[A-Za-z0-9][A-Za-z0-9_.-]*"
  }
  columns {
    id      = ["id"]
    title   = ["content"]
    depends = ["dependencies", "depends_on"]
  }
}

# Levels of complexity. A sprint is of the highest rank of which it has a keyword
# (whole words; code spans do not count), of the default level if it has none.
complexity "trivial" {
  rank     = 1
  keywords = ["typo", "typos", "comment", "comments", "rename", "renames", "renaming", "spelling", "whitespace"]
  in       = ["title"]
  review   = "skip"

  limits {
    plan  = 2
    build = 5
  }
}

complexity "simple" {
  rank     = 2
  keywords = ["button", "buttons", "toggle", "toggles", "flag", "flags", "remove unused"]
  in       = ["title"]
  review   = "skip"

  limits {
    plan  = 3
    build = 10
  }
}

complexity "standard" {
  rank    = 3
  default = true
  review  = "auto"

  limits {
    plan  = 5
    build = 20
  }
}

complexity "critical" {
  rank = 4
  keywords = [
    "auth", "authentication", "authenticate", "authorization", "authorize", "authorisation", "authorise",
    "security", "payment", "payments", "migration", "migrations", "credential", "credentials",
  ]
  in     = ["title", "goal", "tasks"]
  review = "required"

  limits {
    plan  = 8
    build = 40
  }
}

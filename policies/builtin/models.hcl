# Aliases of models. Claude Code knows these names itself and takes the newest of
# each; give an id of your own to pin one, and a price to have costs estimated.
model "haiku" {
  id       = "haiku"
  provider = "anthropic"
}

model "sonnet" {
  id       = "sonnet"
  provider = "anthropic"
}

model "opus" {
  id       = "opus"
  provider = "anthropic"
}

package mcp

// Variables by which the stdio proxy is told where to go: never as arguments, which
// everybody on the machine can read.
const (
	URLVar   = "RALPH_MCP_URL"
	TokenVar = "RALPH_MCP_TOKEN"
)

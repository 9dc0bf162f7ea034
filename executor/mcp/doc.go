// Package mcp is the channel through which an agent reports: an MCP server on
// loopback with a path and a token for each turn.
//
// In: an executor.AgentRun. Out: its Tools, and the agent's reports through them: a
// file that is on stable storage before the call is answered, and
// *AgentRun.Reported. The tools are report_outcome, whose input is the run's required
// report and which refuses every other shape in the same turn; get_context, if the
// run has a context; and propose_work, which records proposals.
//
// Serve decorates a runner with it. Proxy offers the same over stdio, for agents
// without HTTP: it forwards to the process that runs the agent, so that the journal
// has one writer.
//
// It imports executor, internal/atomicfile and internal/jsonschema, and is the only
// user of the MCP library. app makes the Server and decorates the runners.
package mcp

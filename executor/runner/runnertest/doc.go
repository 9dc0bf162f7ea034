// Package runnertest is the suite that every runner passes, with the real program
// of its kind and a scripted model on loopback.
//
//	var agent = runnertest.Agent{Kind: "claude", Binary: "claude", New: …, Config: …}
//
//	func TestMain(m *testing.M)     { runnertest.Main(m, agent) }
//	func TestRealSuite(t *testing.T) { runnertest.Run(t, agent) }
//
// A case names what it needs of a program. What a program cannot do stands in its
// Description, or, of what only the suite asks for, in the table here (lacks);
// nothing else leaves a case out, and Table shows it to people: docs/agents.md.
//
// All cases of a suite share one home directory, one configuration and one model,
// so that a program that serves many sessions starts once. The prompt names the
// case and the turn, by which the model finds its script.
//
// It imports executor, executor/mcp (the real outcome channel), ir and internal
// packages. Only tests use it.
package runnertest

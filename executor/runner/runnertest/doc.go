// Package runnertest is the suite that every runner passes, with the real program
// of its kind and a scripted model on loopback.
//
//	var agent = runnertest.Agent{Kind: "claude", Binary: "claude", New: …, Config: …}
//
//	func TestMain(m *testing.M)     { runnertest.Main(m, agent) }
//	func TestRealSuite(t *testing.T) { runnertest.Run(t, agent) }
//
// A case names what it needs of a program. What a program cannot do is in its
// Description or, for needs of the suite only, in the table here (lacks); nothing
// else skips a case, and Table shows it to people: docs/agents.md.
//
// All cases of a suite share one home directory, one configuration and one model,
// so that a program that serves many sessions starts once. The model finds its script
// by the case and the turn that the prompt names.
//
// It imports executor, executor/mcp (the real outcome channel), ir and internal
// packages. Only tests use it.
package runnertest

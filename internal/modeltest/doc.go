// Package modeltest is a scripted model: a server on loopback that plays canned
// turns to any coding agent, in the protocols that agents speak: OpenAI chat
// completions and responses, and Anthropic messages, streaming and not.
//
// In: scenarios, as Go values or JSON files of the same shape. Out: answers to the
// agents, and a log of everything the agents sent to their model, so that tests can
// check prompts, feedback, tools and history. It imports only the standard library.
// Tests of the runners and of app use it.
//
//	s := modeltest.Start(t)
//	base := s.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{{Match: "say hello", Steps: []modeltest.Step{
//		{Do: []modeltest.Action{modeltest.Write("hello.txt", "hello\n")}},
//		{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "done"})}},
//		{Text: "Done."},
//	}}}})
//	// ANTHROPIC_BASE_URL=base, or an OpenAI base URL of base+"/v1"
//	s.Requests(base)
//
// The step played depends on the request alone: the rule on the last human text, the
// step on the number of tool rounds after it. So a repeated request gets the same
// answer, and a session can continue after its agent was killed. Only faults that
// pass after a number of times have state.
//
// Actions are abstract (write a file, run a command, report an outcome): the server
// reads the tools of the request and calls the agent's own. A request without tools
// is a side request, such as one for a title, and gets a fixed text.
//
// Not done: a history compacted by the agent, in which the rounds can no longer be
// counted.
package modeltest

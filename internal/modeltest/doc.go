// Package modeltest is a scripted model: a server on loopback that plays canned
// turns to any coding agent, in the protocols that agents speak: OpenAI chat
// completions and responses, and Anthropic messages, streaming and not.
//
// In: scenarios, as Go values or JSON files of the same shape. Out: answers to the
// agents, and a log of everything that the agents told their model, so that tests
// can look at prompts, feedback, tools and history. It imports only the standard
// library. Tests of the runners and of app use it.
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
// Which step is played depends on the request alone: the rule by the last human
// text, the step by the number of tool rounds after that text. So an agent that
// asks again is answered the same again, and a session goes on after its agent was
// killed. Only faults that pass after some times have a state.
//
// Actions are abstract (write a file, run a command, report an outcome): the server
// looks at the tools of the request and calls the agent's own. A request without
// tools is a side request, such as one for a title, and gets a fixed text.
//
// Not done: a history that the agent has compacted, in which the rounds cannot be
// counted any more.
package modeltest

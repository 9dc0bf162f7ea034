package acp

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

func outcome(result string) func(*fake, frame) {
	return func(f *fake, p frame) {
		f.say(p.Params.Session, "m", `{"result":"`+result+`","summary":"s"}`)
		f.done(p, "")
	}
}

func reply(text string) func(*fake, frame) {
	return func(f *fake, p frame) {
		f.say(p.Params.Session, "m", text)
		f.done(p, "")
	}
}

func refusal(err string) func(*fake, frame) {
	return func(f *fake, p frame) { f.fail(p.ID, err) }
}

func stop(reason string) func(*fake, frame) {
	return func(f *fake, p frame) {
		f.say(p.Params.Session, "m", "I was about to")
		f.answer(p.ID, `{"stopReason":"`+reason+`"}`)
	}
}

const options = `"configOptions":[{"id":"flag","type":"boolean","currentValue":true},{"id":"new","type":"slider","currentValue":{"x":1}},
{"id":"m","category":"model","type":"select","currentValue":"p/small","options":[{"group":"g","name":"G","options":[{"value":"p/small","name":"S"},{"value":"p/big","name":"B"}]}]},
{"id":"mode","category":"mode","type":"select","currentValue":"build","options":[{"value":"build","name":"b"},{"value":"review","name":"r"}]}]`

var scenes = map[string]scene{
	// Of the contract of all runners.
	"succeed": {turn: outcome("success")}, "fail": {turn: outcome("failed")}, "partial": {turn: outcome("partial")},
	"write": {turn: func(f *fake, p frame) {
		f.write(p, "edit", "c1")
		f.say(p.Params.Session, "m", reported)
		f.done(p, "")
	}},
	"hang": {turn: func(f *fake, p frame) { c := <-f.cancels; f.answer(p.ID, `{"stopReason":"cancelled"}`); _ = c }},

	"a story": {
		opened: strings.ReplaceAll(options, "\n", ""),
		turn: func(f *fake, p frame) {
			s := p.Params.Session
			f.update(s, `{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
			f.update(s, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Warning: something\n\n"}}`)
			f.update(s, `{"sessionUpdate":"usage_update","used":1000,"size":200000,"_meta":{"_claude/model":"really-1"}}`)
			f.update(s, `{"sessionUpdate":"plan","entries":[{"content":"think","status":"completed"},{"content":"write it","status":"in_progress","priority":"high"}]}`)
			f.say(s, "m1", "I will ")
			f.say(s, "m1", "write.\nNow")
			f.update("ses_child", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"of a helper"}}`)
			f.write(p, "edit", "c1")
			f.update(s, `{"sessionUpdate":"telepathy","content":7,"status":{"a":1}}`)
			f.raw(`{"jsonrpc":"2.0","method":"_vendor/notice","params":{"x":[1]}}` + "\n")
			f.raw("a log line on stdout\n\n{torn\n[]\n")
			// A message in two pieces, and a line that is torn in the middle.
			f.say(s, "m2", "All done.\n")
			whole := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"<promise>DONE</promise>"}}}}`, s)
			f.raw(whole[:50])
			f.raw(whole[50:] + "\n" + `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + s + `","update":{"sessionUpdate":"usage_update","used":1050,"size":2,"cost":{"amount":0.02,"currency":"USD"}}}}` + "\n")
			f.done(p, `,"usage":{"inputTokens":3000,"outputTokens":150,"totalTokens":3150},"later":{}`)
		},
	},
	"last step only": {turn: func(f *fake, p frame) {
		f.write(p, "edit", "c1")
		f.say(p.Params.Session, "m", reported)
		f.update(p.Params.Session, `{"sessionUpdate":"usage_update","used":1000,"size":2,"cost":{"amount":0.01125,"currency":"USD"}}`)
		f.done(p, `,"usage":{"inputTokens":1000,"outputTokens":50,"totalTokens":1050}`)
	}},
	"dearer":       {turn: costs("0.03125")},
	"dearer still": {turn: costs("0.04")},
	"loads dearly": {hello: `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`, replay: history("ses_2"), turn: costs("0.52")},
	"late words":   {lingers: true, turn: func(f *fake, p frame) { f.done(p, ""); f.say(p.Params.Session, "m", reported) }},
	"flood": {turn: func(f *fake, p frame) {
		f.mu.Lock() // many lines at once, faster than they can be read
		for i := range 20_000 {
			_, _ = fmt.Fprintf(f.out, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"ses_1","update":{"sessionUpdate":"agent_message_chunk","messageId":"f","content":{"type":"text","text":"line %d\n"}}}}`+"\n", i)
		}
		_, _ = fmt.Fprintf(f.out, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"ses_1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":%q}}}`+"\n", strings.Repeat("x", 12<<20))
		f.mu.Unlock()
		f.say("ses_1", "m", reported)
		f.done(p, "")
	}},
	"questions": {turn: func(f *fake, p frame) {
		var got []string
		for _, m := range []string{"fs/read_text_file", "terminal/create", "elicitation/create", "_vendor/ask"} {
			r := f.request(m, `{"sessionId":"ses_1","path":"/etc/passwd","command":"id"}`)
			if r.Result != nil {
				got = append(got, m)
			}
		}
		f.say("ses_1", "m", fmt.Sprintf(`{"result":"success","summary":"answered: %d"}`, len(got)))
		f.done(p, "")
	}},
	"edit in other words": {turn: func(f *fake, p frame) { // as OpenCode asks for a directory outside
		s := p.Params.Session
		f.update(s, `{"sessionUpdate":"tool_call","toolCallId":"c","title":"write","kind":"edit","status":"pending"}`)
		r := f.request("session/request_permission", `{"sessionId":"ses_1","toolCall":{"toolCallId":"c","kind":"other","title":"/elsewhere"},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}`)
		e := f.request("session/request_permission", `{"sessionId":"ses_1","toolCall":{"toolCallId":"d","kind":"execute","title":"go test"},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}`)
		f.say(s, "m", string(r.Result)+" "+string(e.Result))
		f.done(p, "")
	}},

	"killed":     {turn: func(f *fake, p frame) { child(); _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }},
	"exits":      {turn: func(f *fake, p frame) { fmt.Fprintln(os.Stderr, "out of luck"); os.Exit(3) }},
	"exits well": {turn: func(f *fake, p frame) { f.say(p.Params.Session, "m", reported); os.Exit(0) }},
	"no program": {first: func(*fake) { fmt.Fprintln(os.Stderr, "usage: fake COMMAND"); os.Exit(2) }},
	"second try": {turn: outcome("success"), first: func(*fake) {
		if _, err := os.Stat("tried"); err != nil {
			_ = os.WriteFile("tried", nil, 0o600)
			os.Exit(1)
		}
	}},
	"not listening": {first: func(*fake) { select {} }},
	"asleep":        {sleeper: true},
	"deaf":          {deaf: true, turn: outcome("success")},
	"with a child":  {deaf: true, turn: func(f *fake, p frame) { child(); <-f.cancels; outcome("success")(f, p) }},
	"stubborn":      {deaf: true, turn: func(f *fake, p frame) { child(); select {} }},
	"no reason":     {turn: func(f *fake, p frame) { f.answer(p.ID, `{}`) }},
	"cancels":       {turn: stop("cancelled")}, "refuses": {turn: stop("refusal")}, "too long": {turn: stop("max_tokens")}, "too often": {turn: stop("max_turn_requests")},
	"silent": {turn: func(f *fake, p frame) { f.update("ses_1", `{"sessionUpdate":"session_info_update"}`); select {} }},
	"long tool": {turn: func(f *fake, p frame) {
		f.update("ses_1", `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"make","status":"in_progress"}`)
		select {}
	}},
	"half a tool": {turn: func(f *fake, p frame) {
		f.update("ses_1", `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"bash","status":"pending","rawInput":{"cwd":"/"}}`)
		select {}
	}},
	"another time": {hello: `{"protocolVersion":7}`},
	"not so bound": {hello: `{"protocolVersion":1,"agentCapabilities":{}}`, turn: outcome("success")},
	"loads":        {hello: `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":null}}}`, replay: history("ses_old"), turn: reply("only this")},
	"forks":        {replay: history("ses_copy"), turn: reply("only this")},
	"forgets":      {refuse: map[string]string{"session/resume": `{"code":-32603,"message":"Internal error: OpenCode service failure","data":{"service":"session"}}`}},
	"logged out":   {refuse: map[string]string{"session/new": `{"code":-32000,"message":"Authentication required"}`}},
	"chooses":      {opened: strings.ReplaceAll(options, "\n", ""), turn: outcome("success")},
	"old models":   {opened: `"models":{"currentModelId":"a","availableModels":[{"modelId":"a"},{"modelId":"b"}]},"modes":{"currentModeId":"ask","availableModes":[{"id":"ask"},{"id":"code"}]}`, turn: outcome("success")},
}

func costs(usd string) func(*fake, frame) {
	return func(f *fake, p frame) {
		f.update(p.Params.Session, `{"sessionUpdate":"usage_update","used":9,"size":10,"cost":{"amount":`+usd+`,"currency":"USD"}}`)
		f.say(p.Params.Session, "m", reported)
		f.done(p, "")
	}
}

func history(session string) func(*fake) {
	return func(f *fake) {
		f.update(session, `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"an old prompt"}}`)
		f.say(session, "old", reported)
		f.update(session, `{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.5,"currency":"USD"}}`)
	}
}

// errorsOf are errors of programs, by what was found of them.
func init() {
	for name, e := range errorsOf {
		scenes["error: "+name] = scene{turn: refusal(e.json)}
	}
}

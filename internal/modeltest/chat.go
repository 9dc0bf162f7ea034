package modeltest

import "encoding/json"

// chatRequest is a request for OpenAI chat completions, as far as it counts.
type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat *struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

func (r *Request) readChat() error {
	var b chatRequest
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	r.Model, r.Stream = b.Model, b.Stream
	r.JSON = b.ResponseFormat != nil && b.ResponseFormat.Type != "text"
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name})
	}
	asked := false // the model called tools, and none has answered yet
	for _, m := range b.Messages {
		switch m.Role {
		case "system", "developer":
			r.System += m.Content.text() + "\n"
		case "assistant":
			r.said(m.Content.text())
			asked = true
		case "tool":
			r.Results = append(r.Results, m.Content.text())
			if asked {
				r.Rounds++
			}
			asked = false
		case "user":
			for _, p := range m.Content {
				r.heard(p.Text)
			}
		}
	}
	return nil
}

// chat answers in chunks, or as one completion.
func (a answer) chat() {
	finish := "stop"
	var calls []fields
	for i, c := range a.calls {
		finish = "tool_calls"
		calls = append(calls, fields{"index": i, "id": c.ID, "type": "function", "function": fields{"name": c.Name, "arguments": c.Args}})
	}
	u := a.usage
	usage := fields{
		"prompt_tokens": u.Input + u.CacheRead + u.CacheWrite, "completion_tokens": u.Output, "total_tokens": u.Input + u.CacheRead + u.CacheWrite + u.Output,
		"prompt_tokens_details": fields{"cached_tokens": u.CacheRead}, "completion_tokens_details": fields{"reasoning_tokens": u.Reasoning},
	}
	if !a.stream {
		message := fields{"role": "assistant", "content": a.text}
		if len(calls) > 0 {
			message["tool_calls"] = calls
		}
		a.whole(fields{
			"id": a.id, "object": "chat.completion", "created": a.created, "model": a.model, "usage": usage,
			"choices": []fields{{"index": 0, "message": message, "finish_reason": finish}},
		})
		return
	}
	chunk := func(delta fields, finish any) {
		a.event("", fields{
			"id": a.id, "object": "chat.completion.chunk", "created": a.created, "model": a.model,
			"choices": []fields{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	chunk(fields{"role": "assistant", "content": ""}, nil)
	for _, s := range a.pieces() {
		chunk(fields{"content": s}, nil)
	}
	if a.cut {
		return
	}
	for _, c := range calls {
		chunk(fields{"tool_calls": []fields{c}}, nil)
	}
	chunk(fields{}, finish)
	a.event("", fields{"id": a.id, "object": "chat.completion.chunk", "created": a.created, "model": a.model, "choices": []fields{}, "usage": usage})
	a.line("data: [DONE]\n\n")
}

package modeltest

import "encoding/json"

// messagesRequest is a request for Anthropic messages, as far as it counts.
type messagesRequest struct {
	Model    string  `json:"model"`
	Stream   bool    `json:"stream"`
	System   content `json:"system"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	OutputFormat json.RawMessage `json:"output_format"`
	OutputConfig struct {
		Format json.RawMessage `json:"format"`
	} `json:"output_config"`
}

func (r *Request) readMessages() error {
	var b messagesRequest
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	r.Model, r.Stream, r.System = b.Model, b.Stream, b.System.text()
	r.JSON = len(b.OutputFormat) > 0 || len(b.OutputConfig.Format) > 0
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Name})
	}
	asked := false
	for _, m := range b.Messages {
		switch m.Role {
		case "system":
			r.System += "\n" + m.Content.text()
		case "assistant":
			r.said(content(onlyText(m.Content)).text())
			asked = true
		case "user":
			// One message may hold the results of tools and, after them, what was said next.
			for _, p := range m.Content {
				if p.Type != "tool_result" {
					r.heard(p.Text)
					continue
				}
				r.Results = append(r.Results, p.Content.text())
				if asked {
					r.Rounds++
				}
				asked = false
			}
		}
	}
	return nil
}

func onlyText(c content) []part {
	var out []part
	for _, p := range c {
		if p.Type == "text" {
			out = append(out, p)
		}
	}
	return out
}

// messages answers in events, or as one message.
func (a answer) messages() {
	stop := "end_turn"
	var blocks []fields
	if a.text != "" || len(a.calls) == 0 {
		blocks = append(blocks, fields{"type": "text", "text": a.text})
	}
	for _, c := range a.calls {
		stop = "tool_use"
		blocks = append(blocks, fields{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
	}
	u := a.usage
	usage := func(output int) fields {
		return fields{"input_tokens": u.Input, "output_tokens": output, "cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead}
	}
	message := func(content any, stop any, usage fields) fields {
		return fields{
			"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model,
			"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
		}
	}
	if !a.stream {
		a.whole(message(blocks, stop, usage(u.Output)))
		return
	}
	event := func(kind string, with fields) {
		with["type"] = kind
		a.event(kind, with)
	}
	event("message_start", fields{"message": message([]fields{}, nil, usage(1))})
	for i, b := range blocks {
		if b["type"] == "text" {
			event("content_block_start", fields{"index": i, "content_block": fields{"type": "text", "text": ""}})
			for _, s := range a.pieces() {
				event("content_block_delta", fields{"index": i, "delta": fields{"type": "text_delta", "text": s}})
			}
			if a.cut {
				return
			}
		} else {
			event("content_block_start", fields{"index": i, "content_block": fields{"type": "tool_use", "id": b["id"], "name": b["name"], "input": fields{}}})
			event("content_block_delta", fields{"index": i, "delta": fields{"type": "input_json_delta", "partial_json": string(b["input"].(json.RawMessage))}})
		}
		event("content_block_stop", fields{"index": i})
	}
	event("message_delta", fields{"delta": fields{"stop_reason": stop, "stop_sequence": nil}, "usage": fields{"output_tokens": u.Output}})
	event("message_stop", fields{})
}

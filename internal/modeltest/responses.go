package modeltest

import (
	"encoding/json"
	"strings"
)

// responsesRequest is a request for OpenAI responses, as far as it counts.
type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"` // a text, or items
	Tools        []struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"` // of a namespace
	} `json:"tools"`
	Text struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
}

// inputItem is a message, a call of a tool, or what a tool answered.
type inputItem struct {
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Content content `json:"content"`
	Output  content `json:"output"`
}

func (r *Request) readResponses() error {
	var b responsesRequest
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	r.Model, r.Stream, r.System = b.Model, b.Stream, b.Instructions
	r.JSON = b.Text.Format.Type == "json_schema"
	for _, t := range b.Tools {
		switch {
		case t.Type == "namespace":
			for _, sub := range t.Tools {
				r.Tools = append(r.Tools, Tool{Name: sub.Name, Namespace: t.Name})
			}
		case t.Name == "":
			r.Tools = append(r.Tools, Tool{Name: t.Type}) // built in, such as web_search
		default:
			r.Tools = append(r.Tools, Tool{Name: t.Name, Custom: t.Type == "custom"})
		}
	}
	var text string
	if json.Unmarshal(b.Input, &text) == nil {
		r.heard(text)
		return nil
	}
	var items []inputItem
	if err := json.Unmarshal(b.Input, &items); err != nil {
		return err
	}
	asked := false
	for _, i := range items {
		switch {
		case (i.Type == "message" || i.Type == "") && (i.Role == "system" || i.Role == "developer"):
			r.System += "\n" + i.Content.text()
		case (i.Type == "message" || i.Type == "") && i.Role == "user":
			for _, p := range i.Content {
				r.heard(p.Text)
			}
		case i.Type == "message":
			r.said(i.Content.text())
		case strings.HasSuffix(i.Type, "_output"):
			r.Results = append(r.Results, i.Output.text())
			if asked {
				r.Rounds++
			}
			asked = false
		case strings.HasSuffix(i.Type, "_call"):
			asked = true
		}
	}
	return nil
}

// responses answers in events, or as one response.
func (a answer) responses() {
	u := a.usage
	input := u.Input + u.CacheRead + u.CacheWrite
	response := func(status string, output []fields) fields {
		out := fields{"id": "resp_" + a.id, "object": "response", "created_at": a.created, "status": status, "model": a.model, "output": output}
		if status == "completed" {
			out["usage"] = fields{
				"input_tokens": input, "input_tokens_details": fields{"cached_tokens": u.CacheRead},
				"output_tokens": u.Output, "output_tokens_details": fields{"reasoning_tokens": u.Reasoning}, "total_tokens": input + u.Output,
			}
		}
		return out
	}
	event := func(kind string, with fields) {
		if !a.stream {
			return
		}
		with["type"] = kind
		a.event(kind, with)
	}
	event("response.created", fields{"response": response("in_progress", []fields{})})
	output := []fields{}
	if a.text != "" || len(a.calls) == 0 {
		id, at := "msg_"+a.id, 0
		message := func(status string, content []fields) fields {
			return fields{"type": "message", "id": id, "role": "assistant", "status": status, "content": content}
		}
		whole := fields{"type": "output_text", "text": a.text, "annotations": []fields{}}
		event("response.output_item.added", fields{"output_index": at, "item": message("in_progress", []fields{})})
		event("response.content_part.added", fields{"item_id": id, "output_index": at, "content_index": 0, "part": fields{"type": "output_text", "text": "", "annotations": []fields{}}})
		for _, s := range a.pieces() {
			event("response.output_text.delta", fields{"item_id": id, "output_index": at, "content_index": 0, "delta": s})
		}
		if a.cut {
			return
		}
		event("response.output_text.done", fields{"item_id": id, "output_index": at, "content_index": 0, "text": a.text})
		event("response.content_part.done", fields{"item_id": id, "output_index": at, "content_index": 0, "part": whole})
		item := message("completed", []fields{whole})
		event("response.output_item.done", fields{"output_index": at, "item": item})
		output = append(output, item)
	}
	for _, c := range a.calls {
		item := fields{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": "completed"}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		if c.Custom {
			item = fields{"type": "custom_tool_call", "id": "ctc_" + c.ID, "call_id": c.ID, "name": c.Name, "input": c.Args, "status": "completed"}
		}
		at := len(output)
		event("response.output_item.added", fields{"output_index": at, "item": item})
		event("response.output_item.done", fields{"output_index": at, "item": item})
		output = append(output, item)
	}
	if !a.stream {
		a.whole(response("completed", output))
		return
	}
	event("response.completed", fields{"response": response("completed", output)})
}

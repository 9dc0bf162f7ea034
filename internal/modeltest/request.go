package modeltest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Protocol is how an agent talks to its model.
type Protocol string

// Protocols. Requests of other kinds, such as for the list of models, have none.
const (
	Chat      Protocol = "chat"      // POST /v1/chat/completions
	Responses Protocol = "responses" // POST /v1/responses
	Messages  Protocol = "messages"  // POST /v1/messages
)

// Request is what an agent sent to its model.
type Request struct {
	At       time.Time
	Method   string
	Path     string // behind the scenario's base, without the query
	Header   http.Header
	Body     []byte
	Protocol Protocol

	Model   string
	Stream  bool
	System  string   // all system and developer texts
	Tools   []Tool   // in the order of the request
	Humans  []string // what people said, oldest first, without what the agent put around it
	Said    []string // what the model said, oldest first
	Results []string // what tools answered, oldest first
	Rounds  int      // rounds of tools after the last human text
	JSON    bool     // the answer must be JSON

	Played string // "rule 0, step 2", "side", "nothing", with the fault that was played
	Calls  []Called
}

// Tool is one that the agent offers.
type Tool struct {
	Name      string
	Namespace string // as Codex groups the tools of an MCP server; "" is none
	Custom    bool   // takes text instead of JSON
}

// Called is a tool call as it was sent.
type Called struct {
	ID, Name, Namespace string
	Args                string // JSON, or the text of a custom tool
	Custom              bool
}

// Human is the last human text.
func (r Request) Human() string {
	if len(r.Humans) == 0 {
		return ""
	}
	return r.Humans[len(r.Humans)-1]
}

// Side reports whether the request does not belong to a turn: it has no tools.
func (r Request) Side() bool { return r.Protocol != "" && len(r.Tools) == 0 }

// Offers reports whether there is a tool whose name is, or ends in, one of these.
func (r Request) Offers(suffixes ...string) bool {
	return slices.ContainsFunc(r.Tools, func(t Tool) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(t.Name, s) })
	})
}

// ToolNames lists the tools, with their namespaces.
func (r Request) ToolNames() []string {
	var out []string
	for _, t := range r.Tools {
		out = append(out, t.Namespace+t.Name)
	}
	return out
}

// around is what agents put around what people say.
var around = func() *regexp.Regexp {
	var all []string
	for _, tag := range []string{
		"system-reminder", "session_context", "environment_context", "user_instructions", "permissions instructions", "skills_instructions", "INSTRUCTIONS", "turn_aborted",
	} {
		all = append(all, "<"+tag+">.*?</"+tag+">")
	}
	return regexp.MustCompile("(?s)" + strings.Join(all, "|") + `|# AGENTS\.md instructions for [^\n]*|\[Request interrupted by user[^\]]*\]`)
}()

// heard adds what a person said, if anything is left of it; a new text begins a
// new count of rounds.
func (r *Request) heard(text string) {
	if text = strings.TrimSpace(around.ReplaceAllString(text, "")); text != "" {
		r.Humans, r.Rounds = append(r.Humans, text), 0
	}
}

// said adds what the model said.
func (r *Request) said(text string) {
	if text != "" {
		r.Said = append(r.Said, text)
	}
}

// content is a text, or a list of parts of which the texts are taken. A part may
// hold parts itself, as the results of tools do.
type content []part

type part struct {
	Type    string  `json:"type"`
	Text    string  `json:"text"`
	Content content `json:"content"`
}

func (c *content) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*c = content{{Type: "text", Text: s}}
		return nil
	}
	var parts []part
	if err := json.Unmarshal(b, &parts); err != nil {
		*c = content{{Type: "text", Text: string(b)}} // an object: as it is
		return nil
	}
	*c = parts
	return nil
}

// text is all of it, in lines.
func (c content) text() string {
	var out []string
	for _, p := range c {
		if p.Text != "" {
			out = append(out, p.Text)
		}
		if s := p.Content.text(); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

// directory finds where the agent says that it works; "" if it does not say.
func (r Request) directory() string {
	for _, text := range append([]string{r.System}, string(r.Body)) {
		if m := cwd.FindStringSubmatch(text); m != nil {
			return strings.TrimRight(m[1], ".,;")
		}
	}
	return ""
}

var cwd = regexp.MustCompile(`(?i)(?:working directory|<cwd>)(?: is|:|</?[a-z]+>|\s|\\n)*(/[^\s<"\\` + "`" + `]+)`)

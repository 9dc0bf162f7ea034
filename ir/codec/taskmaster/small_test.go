package taskmaster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// read is the draft of a file, and the codes of what is said of it, in their order.
func read(text, tag string) (d *ir.Draft, codes string) {
	d, l := DecodeTag(tag)([]*diag.File{diag.NewFile("x/tasks.json", []byte(text))})
	for _, x := range l {
		codes += " " + string(x.Code)
	}
	return d, strings.TrimSpace(codes)
}

// one is the node of task 1 with these keys; nil with what is said of them.
func one(keys string) (*ir.DraftNode, string) {
	d, codes := read(`{"tasks": [{"id": 1, "title": "T"`+keys+`}]}`, "")
	if d == nil {
		return nil, codes
	}
	return &d.Nodes[0], codes
}

// Which list of a file is read, and what its epic is called. K3
func TestWhichListIsRead(t *testing.T) {
	const some, none = `{"tasks": [{"id": 1, "title": "T"}]}`, `{"tasks": []}`
	const missing = `bead-missing /tasks is the list of tasks; or a tag, such as "master", that has one. Add it to this object.`
	for _, c := range []struct{ text, tag, want string }{
		{some, "", `tasks "Tasks" 1`},
		{some, "master", `tasks "Tasks: master" 1`},
		{some, "web", `taskmaster-tag Its tasks are in it directly, so there is no tag "web". Write --as taskmaster.`},
		{`{"metadata": {"projectName": " A  b ", "description": "C\nd"}, "tasks": [{"id": 1, "title": "T"}]}`, "", `tasks "A b" 1 C d`},
		{`{"metadata": {"projectName": 5, "description": 7}, "tasks": [{"id": 1, "title": "T"}]}`, "", `tasks "Tasks" 1`},
		{`{"master": ` + some + `}`, "", `tasks "Tasks: master" 1`},
		{`{"master": ` + some + `, "a": ` + none + `, "x": 5, "y": {}, "z": ` + none + `}`, "", `tasks "Tasks: master" 1`},
		{`{"web": ` + some + `, "": ` + none + `}`, "", `tasks-web "Tasks: web" 1 own`},
		{`{"web": ` + some + `, "api": ` + some + `}`, "web", `tasks-web "Tasks: web" 1 own`},
		{`{"web": ` + some + `, "api": ` + some + `}`, "", "taskmaster-tag They are api, web. Each makes an epic of its own: write --as taskmaster:api."},
		{`{"web": ` + some + `, "api": ` + some + `}`, "x", `taskmaster-tag There is no tag "x". The tags with tasks are api, web.`},
		{`{"web": ` + none + `}`, "x", `taskmaster-tag There is no tag "x". The tags with tasks are none.`},
		{`{"web": ` + none + `}`, "web", "bead-value /web/tasks is empty. Add a task to it."},
		{`{"tasks": ` + some + `}`, "", `tasks-tasks "Tasks: tasks" 1 own`},
		{`{"web": {"tasks": 5}}`, "", "bead-value /web/tasks has to be a list of tasks."},
		{`{"web": {"tasks": 5}}`, "web", "bead-value /web/tasks has to be a list of tasks."},
		{`{"web": {"tasks": 5}, "master": {"tasks": [{"id": 1}]}}`, "", "bead-value /web/tasks has to be a list of tasks. bead-missing /master/tasks/0/title is what the task is called, a text. Add it to this object."},
		{`{"web": 5}`, "", missing},
		{`{"": ` + none + `}`, "", missing},
	} {
		d, l := DecodeTag(c.tag)([]*diag.File{diag.NewFile("x/tasks.json", []byte(c.text))})
		got := ""
		for _, x := range l {
			got += fmt.Sprintf(" %s %s", x.Code, x.Detail)
		}
		if d != nil {
			got += fmt.Sprintf(" %s %q %d %s", d.Slug, d.Title, len(d.Nodes), strings.Join(d.Description, " "))
			if d.ID != "" && d.Nodes[0].ID != "" {
				got += "own"
			}
			if c.text[d.Range.Start:d.Range.End] != "{" {
				t.Errorf("%s: its place is %+v", c.text, d.Range)
			}
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s of %s is\n%s\nwant\n%s", c.tag, c.text, got, c.want)
		}
	}
	f := diag.NewFile("a.json", []byte(some))
	if d, l := Decode([]*diag.File{f, f}); d != nil || len(l) != 1 || l[0].Code != "bead-value" {
		t.Errorf("two files are %v, %v", d, l)
	}
}

// What a key of a task may be, and what becomes of it.
func TestWhatAKeyBecomes(t *testing.T) {
	for keys, want := range map[string]string{
		`"status": "completed"`:                  "work done {\"status\":\"completed\"}",
		`"status": "blocked"`:                    "manual {\"status\":\"blocked\"} taskmaster-held",
		`"status": "pending"`:                    "work",
		`"type": "checkpoint"`:                   "manual checkpoint",
		`"type": "checkpoint", "status": "done"`: "work checkpoint done {\"status\":\"done\"}",
		`"type": 5`:                              "work",
		`"type": " "`:                            "work",
		`"complexity": null`:                     "work",
		`"complexity": 5`:                        "work {\"complexity\":5}",
		`"subtasks": [{"id": 1, "title": "a"}]`:  "work 1",
		`"subtasks": [{"id": 1, "title": "a", "subtasks": []}]`:  "work 1",
		`"subtasks": [{"id": 1, "title": "a", "subtasks": "x"}]`: "bead-value",
		`"subtasks": [{"id": "1.2", "title": "a"}]`:              "work 1",
		`"subtasks": [{"id": 1.2, "title": "a"}]`:                "bead-value",
		`"subtasks": [{"id": "2.1", "title": "a"}]`:              "bead-value",
		`"subtasks": [{"id": "1.a b", "title": "a"}]`:            "bead-value",
		`"subtasks": [{"id": "integration", "title": "a"}]`:      "bead-value",
		`"subtasks": [{"title": "a"}]`:                           "bead-missing",
		`"description": "a\u0000"`:                               "bead-value",
		`"tags": ["a", 5]`:                                       "bead-value",
		`"relevantFiles": [" "]`:                                 "bead-value",
		`"relevantFiles": [5]`:                                   "bead-value",
		`"relevantFiles": ["a\u0000b"]`:                          "bead-value",
		`"relevantFiles": ["..a"]`:                               "work",
		`"scopeBoundaries": "a"`:                                 "bead-value",
		`"dependencies": [" "]`:                                  "bead-value",
		`"dependencies": [[1]]`:                                  "bead-value",
	} {
		n, codes := one(", " + keys)
		got := codes
		if n != nil {
			got = string(n.Kind) + " " + n.Type.Value
			if n.Done {
				got += " done"
			}
			if len(n.Tasks) > 0 {
				got += fmt.Sprint(" ", len(n.Tasks))
			}
			got = strings.Join(strings.Fields(got+" "+string(n.Ext[Format])+" "+codes), " ")
		}
		if got != want {
			t.Errorf("%s is %s, want %s", keys, got, want)
		}
	}
	for id, want := range map[string]string{`"integration"`: "bead-value", `true`: "bead-value", `1.5`: "bead-value", `"a_b"`: "", `" a"`: "bead-value"} {
		if _, codes := read(`{"tasks": [{"id": `+id+`, "title": "T"}]}`, ""); codes != want {
			t.Errorf("the id %s: %s, want %s", id, codes, want)
		}
	}
}

// What a task says of how it is done is told with a head each; line ends are \n.
func TestWhatTheAgentIsTold(t *testing.T) {
	for keys, want := range map[string]string{
		`"details": "\r\nA\r\n b\n\n"`:                                      "A| b",
		`"details": " \n"`:                                                  "",
		`"implementationApproach": "A"`:                                     "Approach:|A",
		`"details": "A", "codebasePatterns": "B"`:                           "A||Patterns of this code base:|- B",
		`"scopeBoundaries": {"included": null, "excluded": "B"}`:            "Out of scope:|B",
		`"technicalConstraints": [" a  b", " "], "acceptanceCriteria": "C"`: "Constraints:|- a b",
	} {
		n, codes := one(", " + keys)
		if n == nil || strings.Join(n.Text, "|") != want {
			t.Errorf("%s is told as %+v, %s, want %s", keys, n, codes, want)
		}
	}
}

// What tasks and subtasks wait for, and what is said of it.
func TestWhatATaskWaitsFor(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{`"subtasks": [{"id": 1, "title": "a"}]`, `"dependencies": ["1.1"]`, " 2:1 taskmaster-lifted"},
		{`"subtasks": [{"id": 1, "title": "a"}]`, `"dependencies": ["2.1"]`, " unknown-dependency"},
		{`"subtasks": [{"id": 1, "title": "a"}]`, `"dependencies": ["9.1"]`, " unknown-dependency"},
		{`"subtasks": [{"id": 1, "title": "a"}]`, `"dependencies": [" 1 ", 1]`, " 2:1"},
		{`"dependencies": ["1.1"], "subtasks": [{"id": 1, "title": "a"}]`, ``, " 1:1"}, // for the compiler
		{`"subtasks": [{"id": 1, "title": "a", "dependencies": [9]}]`, ``, " unknown-dependency"},
		{`"subtasks": [{"id": 1, "title": "a", "dependencies": ["1"]}, {"id": 2, "title": "b", "dependencies": [1]}]`, ``, " dependency-cycle"},
		{`"subtasks": [{"id": 3, "title": "a", "dependencies": [2]}]`, ``, " 1:2 taskmaster-lifted"},
	} {
		if c.second != "" {
			c.second = ", " + c.second
		}
		d, codes := read(`{"tasks": [{"id": 1, "title": "T", `+c.first+`}, {"id": 2, "title": "U"`+c.second+`}]}`, "")
		got := ""
		if d != nil {
			for _, n := range d.Nodes {
				for _, e := range n.Edges {
					got += fmt.Sprintf(" %s:%s", n.Key, e.Key)
				}
			}
		}
		if codes != "" {
			got += " " + codes
		}
		if got != c.want {
			t.Errorf("%s, %s:%s, want%s", c.first, c.second, got, c.want)
		}
	}
}

// Beside other mistakes each circle is reported once, at most ten of them, and with those in it only.
func TestCirclesAreReportedOnce(t *testing.T) {
	const bad = `, {"id": 99, "title": "x", "status": "?"}`
	each := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, strings.ReplaceAll(format, "%", fmt.Sprint(i+1)))
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct{ tasks, want string }{
		{`{"id": 1, "title": "a", "dependencies": [2]}, {"id": 2, "title": "b", "dependencies": [2]}`, "task 2 waits for itself"},
		{`{"id": 1, "title": "a", "dependencies": [2]}, {"id": 2, "title": "b", "dependencies": [3]}, {"id": 3, "title": "c", "dependencies": [2]}`, "2 tasks wait for each other"},
		{each(12, `{"id": %, "title": "a", "dependencies": [%]}`), each(10, "task % waits for itself")},
	} {
		_, l := decode([]*diag.File{diag.NewFile("tasks.json", []byte(`{"tasks": [`+c.tasks+bad+`]}`))}, "")
		var got []string
		for _, x := range l {
			if x.Code != "bead-value" {
				got = append(got, x.Summary)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %s", c.tasks, got, c.want)
		}
		if !slices.IsSortedFunc(l, func(a, b diag.Diagnostic) int { return a.Range.Start - b.Range.Start }) {
			t.Errorf("they are not in the order of the file: %v", l)
		}
	}
}

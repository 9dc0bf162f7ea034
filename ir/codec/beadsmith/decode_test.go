package beadsmith_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

const judged = `"successCriteria": [{"type": "no_errors"}]`

// read is what files make, nil if nothing, and what is said of them: codes, with the
// pointer that a detail begins with.
func read(texts ...string) (*ir.Draft, string) {
	var files []*diag.File
	for i, text := range texts {
		files = append(files, diag.NewFile(fmt.Sprintf("dir/file %d.json", i), []byte(text)))
	}
	d, list := beadsmith.Decode(files)
	var said []string
	for _, x := range list {
		if word, _, _ := strings.Cut(x.Detail, " "); strings.HasPrefix(word, "/") {
			said = append(said, string(x.Code)+" "+strings.TrimSuffix(word, "."))
		} else {
			said = append(said, string(x.Code))
		}
	}
	return d, strings.Join(said, ", ")
}

// All that a criterion may not say is reported, each thing once, where it is. S1-37, S1-41..45
func TestWhatACriterionMayNotSay(t *testing.T) {
	const first, config = "/successCriteria/0", "/successCriteria/0/config"
	for criteria, want := range map[string]string{
		`5`:                                     "bead-value /successCriteria",
		`[]`:                                    "task-no-criterion /successCriteria",
		`[5, {"type": "no_errors"}]`:            "bead-value " + first,
		`[{"config": {}}]`:                      "bead-missing " + first + "/type",
		`[{"type": "done"}]`:                    "bead-value " + first + "/type",
		`[{"type": "no_errors", "config": []}]`: "bead-value " + config,
		`[{"type": "tests_pass", "config": {"command": " "}}]`:                                      "bead-value " + config + "/command",
		`[{"type": "custom"}]`:                                                                      "bead-missing " + config + "/command",
		`[{"Type": "custom"}]`:                                                                      "bead-missing " + config + "/command",
		`[{"type": "custom", "config": {"type": "x"}}]`:                                             "bead-missing " + config + "/command, bead-unknown-key " + config + "/type",
		`[{"type": "custom", "config": {}}]`:                                                        "bead-missing " + config + "/command",
		`[{"type": "custom", "config": {"kind": "human"}}]`:                                         "bead-value " + config + "/kind",
		`[{"type": "custom", "config": {"kind": "x", "command": "true"}}]`:                          "bead-value " + config + "/kind",
		`[{"type": "custom", "config": {"kind": "command", "command": "true"}}]`:                    "",
		`[{"type": "custom", "config": {"command": "true", "pattern": "ok.*"}}]`:                    "bead-value " + config + "/pattern",
		`[{"type": "custom", "config": {"command": "true", "exitCode": 256}}]`:                      "bead-value " + config + "/exitCode",
		`[{"type": "custom", "config": {"command": "true", "condition": "OK"}}]`:                    "bead-value " + config + "/condition",
		`[{"type": "custom", "config": {"condition": "` + strings.Repeat("x", 200) + `"}}]`:         "",
		`[{"type": "custom", "config": {"condition": "` + strings.Repeat("x", 201) + `"}}]`:         "bead-value " + config + "/condition",
		`[{"type": "done_tag", "config": {"marker": "a  b"}}]`:                                      "bead-value " + config + "/marker",
		`[{"type": "done_tag", "config": {"marker": "a</promise>"}}]`:                               "bead-value " + config + "/marker",
		`[{"type": "done_tag"}, {"type": "custom", "config": {"condition": "DONE"}}]`:               "",
		`[{"type": "done_tag"}, {"type": "custom", "config": {"condition": "BYE"}}]`:                "task-two-promises",
		`[{"type": "done_tag", "config": {"marker": " A"}}, {"type": "done_tag"}]`:                  "bead-value " + config + "/marker",
		`[{"type": "done_tag"}, {"type": "done_tag", "config": {"marker": "A "}}]`:                  "bead-value /successCriteria/1/config/marker",
		`[{"type": "no_errors", "config": {"gate": "!", "marker": "A"}}, {"type": "custom"}, null]`: "bead-unknown-key " + config + "/marker, bead-missing /successCriteria/1/config/command, bead-value /successCriteria/2",
	} {
		if d, got := read(`{"id": "a", "description": "d", "successCriteria": ` + criteria + `}`); got != want || (d == nil) != (want != "") {
			t.Errorf("%s: %q, want %q", criteria, got, want)
		}
	}
}

// What judges a task is told to its agent, the same thing once. S1-40..45
func TestWhatJudgesATaskIsTold(t *testing.T) {
	const last = "When everything is done, and only then, the last line of your last message is <promise>%s</promise>"
	for _, c := range []struct{ criteria, command, gates, told string }{
		{`{"type": "tests_pass"}`, "", `tests-pass:`, "The tests pass"},
		{`{"type": "tests_pass"}`, `make\r\n`, `tests-pass: make`, "This passes: `make`"},
		{`{"type": "tests_pass", "config": {"command": "go test\n", "gate": "a/Unit"}}`, "make", `unit: go test`, "This passes: `go test`"},
		{`{"type": "tests_pass"}, {"type": "tests_pass", "config": {"gate": "!"}}`, "make", `tests-pass: make; custom: make`, "This passes: `make`"},
		{`{"type": "done_tag"}`, "", `done-tag: DONE`, fmt.Sprintf(last, "DONE")},
		{`{"type": "done_tag", "config": {"marker": "BYE"}}`, "", `done-tag: BYE`, fmt.Sprintf(last, "BYE")},
		{`{"type": "no_errors"}`, "", `no-errors: no errors`, "No errors are left; an error that is left is reported"},
		{`{"type": "custom", "config": {"condition": "BYE"}}`, "", `custom: BYE`, fmt.Sprintf(last, "BYE")},
		{`{"type": "custom", "config": {"command": "x", "pattern": "ok"}}`, "", `custom: x 0 "ok"`, "This passes and prints \"ok\": `x`"},
		{`{"type": "custom", "config": {"command": "x", "exitCode": 3}}`, "", `custom: x 3 ""`, "This ends with exit code 3: `x`"},
		{
			`{"type": "custom", "config": {"command": "a\nb"}}, {"type": "custom", "config": {"command": "c\nd"}}`, "",
			"custom: a\nb; custom-2: c\nd", "This passes:|  a|  b|This passes:|  c|  d",
		},
	} {
		d, said := read(fmt.Sprintf(`{"id": "a", "description": "d", "testCommand": %s, "successCriteria": [%s]}`, map[bool]string{true: "null", false: `"` + c.command + `"`}[c.command == ""], c.criteria))
		if d == nil || said != "" {
			t.Errorf("%s: %s", c.criteria, said)
			continue
		}
		var gates []string
		for _, g := range d.Nodes[0].Verify {
			s := g.Name + ": " + g.Run + g.Promise
			if g.NoErrors {
				s += "no errors"
			}
			if g.Expect != (ir.Expect{}) {
				s += fmt.Sprintf(" %d %q", g.Expect.ExitCode, g.Expect.StdoutContains)
			}
			gates = append(gates, strings.TrimSpace(s))
		}
		if got, told := strings.Join(gates, "; "), strings.Join(d.Nodes[0].Acceptance, "|"); got != c.gates || told != c.told {
			t.Errorf("%s: gates %q, told %q, want %q, %q", c.criteria, got, told, c.gates, c.told)
		}
	}
}

// What is a task and what is a bead, what a bead has to have, and whose it is. S1-01..06, S1-12, S1-15..19, K20
func TestBeadsThatAreRead(t *testing.T) {
	task := func(id, more string) string {
		return fmt.Sprintf(`{"id": %q, "description": "d", %s%s}`, id, judged, more)
	}
	inside := func(bead string) string { return task("a", `, "beads": [`+bead+`]`) }
	with := func(more string) string {
		return inside(`{"id": "x", "taskId": "a", "beadNumber": 1, "status": "approved"` + more + `}`)
	}
	loose := func(of string) string {
		return fmt.Sprintf(`{"id": "x", "taskId": %q, "beadNumber": 1, "status": "approved", "prompt": "p"}`, of)
	}
	for _, c := range []struct{ name, text, want string }{
		{"one in its task", with(""), "task-records"},
		{"with times", with(`, "startedAt": "2026-01-31T18:00:00.250Z", "completedAt": 1769882400000, "tokensUsed": 0, "filesChanged": [], "testResults": []`), "task-records"},
		{"with nulls", with(`, "startedAt": null, "completedAt": null, "tokensUsed": null, "filesChanged": null`), "task-records"},
		{"nothing but nulls", inside(`{"id": null, "taskId": null, "beadNumber": null, "status": null}`), "bead-missing /beads/0/beadNumber, bead-missing /beads/0/id, bead-missing /beads/0/status, bead-missing /beads/0/taskId"},
		{"all of it wrong", inside(`{"id": 1, "taskId": " ", "beadNumber": 0, "status": "done"}`), "bead-value /beads/0/id, bead-value /beads/0/taskId, bead-value /beads/0/beadNumber, bead-value /beads/0/status"},
		{"times without a zone, before 1970, no times", with(`, "startedAt": "2026-01-31T18:00:00", "completedAt": -1`), "bead-value /beads/0/startedAt, bead-value /beads/0/completedAt"},
		{"a time that is a list", with(`, "startedAt": []`), "bead-value /beads/0/startedAt"},
		{"tokens and lists that are none", with(`, "tokensUsed": -1, "filesChanged": {}, "testResults": 2`), "bead-value /beads/0/tokensUsed, bead-value /beads/0/filesChanged, bead-value /beads/0/testResults"},
		{"a number in the place of a bead", inside(`7`), "bead-value /beads/0"},
		{"a number in the place of all", task("a", `, "beads": 7`), "bead-value /beads"},
		{"of another task", "[" + with("") + "," + task("b", `, "beads": [`+loose("a")+`]`) + "]", "task-records, bead-value, task-records"},
		{"beside its task", "[" + task("a", "") + "," + loose("a") + "]", "task-records"},
		{"beside another task", "[" + task("a", "") + "," + loose("b") + "]", "bead-value"},
		{"beside its task and wrong", "[" + task("a", "") + `, {"taskId": "a", "beadNumber": 1, "status": "approved"}]`, "bead-missing /1/id"},
		{"a task with a taskId", task("a", `, "taskId": "b"`), "bead-unknown-key /taskId"},
		{"a task of a taskId and a description", `{"taskId": "b", "description": "d"}`, "bead-missing /id, bead-missing /successCriteria, bead-unknown-key /taskId"},
		{"a task of a taskId and criteria", `{"taskId": "b", ` + judged + `}`, "bead-missing /description, bead-missing /id, bead-unknown-key /taskId"},
		{"an id alone is a task's", `{"id": "a"}`, "bead-missing /description, bead-missing /successCriteria"},
		{"what is said is in the order of the file", "[" + with("") + `, {"id": "b", "description": "d"}]`, "task-records, bead-missing /1/successCriteria"},
	} {
		if _, got := read(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	d, _ := read("["+task("a", `, "beadResults": [1]`)+","+task("b", `, "beads": [`+loose("b")+`], "beadResults": [{"beadNumber": 1}]`)+"]", loose("b"))
	for i, want := range []string{
		`{"successCriteria":[{"type":"no_errors"}]}`,
		`{"beadResults":[{"beadNumber":1}],"beads":[` + strings.Repeat(`,{"beadNumber":1,"id":"x","prompt":"p","status":"approved","taskId":"b"}`, 2)[1:] + `],"successCriteria":[{"type":"no_errors"}]}`,
	} {
		if got := string(d.Nodes[i].Ext[beadsmith.Format]); got != want {
			t.Errorf("kept of task %d is %s, want %s", i+1, got, want)
		}
	}
}

// What the rest of a task becomes, and what is said of it. S1-34..40, S1-64..68, K9
func TestWhatATaskBecomes(t *testing.T) {
	with := func(id, more string) string {
		return fmt.Sprintf(`{"id": %q, "description": " The first  line \r\nand more ", %s%s}`, id, judged, more)
	}
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"no workspace", []string{with("a", `, "workspaceRoot": ""`)}, ""},
		{"a workspace that is none", []string{with("a", `, "workspaceRoot": 5`)}, "bead-value /workspaceRoot"},
		{"workspaces, said once of a file", []string{"[" + with("a", `, "workspaceRoot": "/w"`) + "," + with("b", `, "workspaceRoot": "/w"`) + "]", with("c", `, "workspaceRoot": "/w"`)}, "task-workspace /0/workspaceRoot, task-workspace /workspaceRoot"},
		{"completed", []string{with("a", `, "status": "completed"`)}, "bead-completed"},
		{"begun", []string{with("a", `, "status": "running"`)}, ""},
		{"a word of nobody", []string{with("a", `, "status": "closed"`)}, "bead-value /status"},
		{"two of one id", []string{with("a", ""), with("a", "")}, "bead-value"},
		{"an unknown key", []string{with("a", `, "team": 1`)}, "bead-unknown-key /team"},
		{"numbers out of their bounds", []string{with("a", `, "tokenBudget": 0, "maxIterations": 10001`)}, "bead-value /tokenBudget, bead-value /maxIterations"},
		{"no task", []string{"[]"}, "bead-missing"},
		{"no JSON of a task", []string{"5"}, "bead-json"},
		{"no files", nil, ""},
	} {
		d, got := read(c.texts...)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if d != nil && d.Nodes[0].Done != (c.name == "completed") {
			t.Errorf("%s: done is %v", c.name, d.Nodes[0].Done)
		}
	}
	one := with("a", `, "status": "completed"`)
	d, _ := read(one)
	if n := d.Nodes[0]; n.Title != "The first line" || n.Goal != "The first  line \nand more" || one[n.Range.Start] != '"' || n.DoneBy != "status" || one[n.DoneRange.Start:n.DoneRange.End] != `"completed"` {
		t.Errorf("the task is %+v", n)
	}
	if d.Title != "The first line" || d.Slug != "a" {
		t.Errorf("one task is the epic %q, %q", d.Title, d.Slug)
	}
	if d, _ = read("[" + with("a", "") + "," + with("b", "") + "]"); d.Title != "file 0" || d.Slug != "file-0" {
		t.Errorf("two tasks are the epic %q, %q", d.Title, d.Slug)
	}
	if d, _ = beadsmith.Decode([]*diag.File{diag.NewFile("ä.json", []byte("["+with("a", "")+","+with("b", "")+"]"))}); d.Slug != "tasks" {
		t.Errorf("two tasks in a file without a plain name are the epic %q", d.Slug)
	}
}

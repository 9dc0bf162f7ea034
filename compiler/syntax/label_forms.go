package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// asksApproval is the form of an approval's value.
var asksApproval = lazyregexp.New(`(?i)^(?:required\b|requested from @|(?:from|by|of) @|@\w)`)

const (
	codeOr   = "^(?:`[^`]+`|"
	pathForm = "(?:`[^`]+`|[^\\s`,]*[/*][^\\s`,]*|[\\w-][\\w.-]*\\.[A-Za-z]\\w{0,5})"
	timeForm = `~?\d+(?:\.\d+)?\s?(?:ms|s|m|h|d|sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?)`
	wordForm = `^[a-z][a-z0-9._-]*$`
)

// pathFirst is a line that begins with a path and continues with nothing but others or a remark.
var pathFirst = lazyregexp.New("^" + pathForm + "(?:[ \\t]*$|[ \\t]*,|[ \\t]+[-–—(])")

var pathsForm = lazyregexp.New("^" + pathForm + "(?:,[ \\t]*" + pathForm + ")*$")

// labelForms are the values that tell a label from a remark where its name is not in the
// form of one. Labels whose value is any text have none.
var labelForms = map[LabelName]*lazyregexp.Regexp{
	Approval:   asksApproval,
	Manual:     lazyregexp.New(`(?i)^(?:yes|true)$`),
	Complexity: lazyregexp.New(`(?i)^(?:trivial|simple|standard|critical)$`),
	Access:     lazyregexp.New(`(?i)^(?:read|write)$`),
	Session:    lazyregexp.New(`(?i)^(?:fresh|resume)$`),
	Priority:   lazyregexp.New(`(?i)^(?:p?[0-4]|critical|high|medium|low|minimal)$`),
	Verify:     lazyregexp.New("^`(?:[^`]*[^` ] [^`]*|[^`./]+|\\./[^`]+)`$"), // a command; no file
	DevAgents:  lazyregexp.New("^`[^`]+`"),
	QAAgents:   lazyregexp.New("^`[^`]+`"),
	Owns:       pathsForm,
	Files:      pathsForm,
	Reads:      pathsForm,

	Attempts:   lazyregexp.New(`^\d+$`),
	Iterations: lazyregexp.New(`^\d+$`),
	Timeout:    lazyregexp.New("(?i)^(?:" + timeForm + ")+$"),
	Estimate:   lazyregexp.New("(?i)^(?:" + timeForm + ")+$"),
	Deadline:   lazyregexp.New(`^\d{4}-\d\d-\d\d`),
	Budget:     lazyregexp.New("(?i)^(?:[$€]\\s?\\d|\\d[\\d._]*\\s?[km]?\\s?(?:usd|dollars?|euros?|tokens?)\\b|(?:" + timeForm + ")+$)"),

	Policy:            lazyregexp.New(wordForm),
	Capability:        lazyregexp.New(wordForm),
	Model:             lazyregexp.New(wordForm),
	Lane:              lazyregexp.New(wordForm),
	Type:              lazyregexp.New(wordForm),
	Branch:            lazyregexp.New(codeOr + `[\w.-]+/[\w./-]+)$`),
	SourceBranch:      lazyregexp.New(codeOr + `[\w./-]+)$`),
	IntegrationBranch: lazyregexp.New(codeOr + `[\w./-]+)$`),
	Worktree:          lazyregexp.New(codeOr + `[\w./-]+/[\w./-]+)$`),
	Implements:        lazyregexp.New(`^[A-Z][A-Z0-9]*-?\d[\w.-]*(?:,\s*[A-Z][A-Z0-9]*-?\d[\w.-]*)*$`),
	LabelsLabel:       lazyregexp.New(`\bashep:`),

	DependsOn: lazyregexp.New(`(?i)^(?:none|nothing|\[\])$`),
}

// hasForm reports whether value is one that the label could have, and a remark is not.
func hasForm(n LabelName, value string) bool {
	form := labelForms[n]
	return form != nil && form.MatchString(strings.TrimSuffix(value, "."))
}

// isValue reports whether what follows a bold name without a colon reads like the
// value of that label: "**Approval** required from @ada".
func isValue(n LabelName, tail string) bool {
	if hasForm(n, tail) {
		return true
	}
	words := strings.Fields(tail)
	short := len(words) <= 2 && !strings.HasSuffix(tail, ".")
	switch n {
	case Approval:
		return short || strings.Contains(tail, "@")
	case Manual, Complexity, Policy, Access:
		return short
	case QAAgents, DevAgents, LabelsLabel:
		return short && len(words) == 1
	}
	return n.IsDependency() && short && strings.ContainsAny(tail, "0123456789")
}

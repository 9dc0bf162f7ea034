package syntax

import (
	"regexp"
	"strings"
	"sync"
)

// asksApproval is the form of an approval's value.
var asksApproval = regexp.MustCompile(`(?i)^(?:required\b|requested from @|(?:from|by|of) @|@\w)`)

const (
	codeOr   = "^(?:`[^`]+`|"
	pathForm = "(?:`[^`]+`|[^\\s`,]*[/*][^\\s`,]*|[\\w-][\\w.-]*\\.[A-Za-z]\\w{0,5})"
	timeForm = `~?\d+(?:\.\d+)?\s?(?:ms|s|m|h|d|sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?)`
	wordForm = `^[a-z][a-z0-9._-]*$`
)

// labelForms are the values that tell a label from a remark where its name is not in the
// form of one. Labels whose value is any text have none. They are compiled when the first is asked for.
var labelForms = sync.OnceValue(func() map[LabelName]*regexp.Regexp {
	pathsForm := regexp.MustCompile("^" + pathForm + "(?:,[ \\t]*" + pathForm + ")*$")
	return map[LabelName]*regexp.Regexp{
		Approval:   asksApproval,
		Manual:     regexp.MustCompile(`(?i)^(?:yes|true)$`),
		Complexity: regexp.MustCompile(`(?i)^(?:trivial|simple|standard|critical)$`),
		Access:     regexp.MustCompile(`(?i)^(?:read|write)$`),
		Session:    regexp.MustCompile(`(?i)^(?:fresh|resume)$`),
		Priority:   regexp.MustCompile(`(?i)^(?:p?[0-4]|critical|high|medium|low|minimal)$`),
		Verify:     regexp.MustCompile("^`(?:[^`]*[^` ] [^`]*|[^`./]+|\\./[^`]+)`$"), // a command; no file
		DevAgents:  regexp.MustCompile("^`[^`]+`"),
		QAAgents:   regexp.MustCompile("^`[^`]+`"),
		Owns:       pathsForm,
		Files:      pathsForm,
		Reads:      pathsForm,

		Attempts:   regexp.MustCompile(`^\d+$`),
		Iterations: regexp.MustCompile(`^\d+$`),
		Timeout:    regexp.MustCompile("(?i)^(?:" + timeForm + ")+$"),
		Estimate:   regexp.MustCompile("(?i)^(?:" + timeForm + ")+$"),
		Deadline:   regexp.MustCompile(`^\d{4}-\d\d-\d\d`),
		Budget:     regexp.MustCompile("(?i)^(?:[$€]\\s?\\d|\\d[\\d._]*\\s?[km]?\\s?(?:usd|dollars?|euros?|tokens?)\\b|(?:" + timeForm + ")+$)"),

		Policy:            regexp.MustCompile(wordForm),
		Capability:        regexp.MustCompile(wordForm),
		Model:             regexp.MustCompile(wordForm),
		Lane:              regexp.MustCompile(wordForm),
		Type:              regexp.MustCompile(wordForm),
		Branch:            regexp.MustCompile(codeOr + `[\w.-]+/[\w./-]+)$`),
		SourceBranch:      regexp.MustCompile(codeOr + `[\w./-]+)$`),
		IntegrationBranch: regexp.MustCompile(codeOr + `[\w./-]+)$`),
		Worktree:          regexp.MustCompile(codeOr + `[\w./-]+/[\w./-]+)$`),
		Implements:        regexp.MustCompile(`^[A-Z][A-Z0-9]*-?\d[\w.-]*(?:,\s*[A-Z][A-Z0-9]*-?\d[\w.-]*)*$`),
		LabelsLabel:       regexp.MustCompile(`\bashep:`),

		DependsOn: regexp.MustCompile(`(?i)^(?:none|nothing|\[\])$`),
	}
})

// hasForm reports whether value is one that the label could have, and a remark is not.
func hasForm(n LabelName, value string) bool {
	form := labelForms()[n]
	return form != nil && form.MatchString(strings.TrimSuffix(value, "."))
}

// isValue reports whether what stands behind a bold name without a colon reads like the
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

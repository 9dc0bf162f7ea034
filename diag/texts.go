package diag

import (
	"embed"
	"strings"
)

// texts holds what docs/diagnostics/ says about each code below its first line: why,
// then an example that is reported and the same mended, where there are any.
//
//go:embed texts
var texts embed.FS

// Text is the markdown of texts/CODE.md: why ralph says so and what to do, and the
// examples after "Reported:" and "Instead:". It is read when it is asked for.
func (e Entry) Text() string {
	b, err := texts.ReadFile("texts/" + string(e.Code) + ".md")
	if err != nil {
		panic("diag: a code without a text: " + err.Error())
	}
	return string(b)
}

// Why is Text without the examples.
func (e Entry) Why() string {
	why := e.Text()
	for _, example := range []string{"\nReported:\n", "\nInstead:\n"} {
		why, _, _ = strings.Cut(why, example)
	}
	return strings.TrimSpace(why)
}

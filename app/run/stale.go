package run

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// atOnce is how far apart the files of one compile or one checkout are written.
const atOnce = 2 * time.Second

// StaleWarning says that epic.json, which is what runs, is stale: the plan or its policy
// was changed after epic.json was written, and compiles to something else. It is "" if
// nothing is newer, or if the result is the same. It compiles only if a modification time
// is newer.
func StaleWarning(file string, epic *ir.Epic, raw []byte) string {
	if file == "-" || epic.Run.Dialect == "" || !filepath.IsLocal(filepath.FromSlash(epic.Epic.Plan)) {
		return "" // no markdown plan, or none that can be found
	}
	written, err := os.Stat(file)
	if err != nil {
		return ""
	}
	p, err := project.Open(file)
	if err != nil {
		return ""
	}
	defer p.Close()
	plan := filepath.Join(p.Dir, filepath.FromSlash(epic.Epic.Plan))
	if _, err := os.Stat(plan); err != nil {
		return "" // moved, or another checkout
	}
	var newer []string
	for _, path := range append([]string{epic.Epic.Plan}, epic.Run.Policies...) {
		if st, err := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(path))); err == nil && st.ModTime().After(written.ModTime().Add(atOnce)) {
			newer = append(newer, path)
		}
	}
	if len(newer) == 0 {
		return ""
	}
	said := fmt.Sprintf("%s %s newer than %s", words.ListOf(newer), text.Form(len(newer), "is", "are"), file)
	a := &project.Args{Plans: []string{plan}, Recorded: epic.Run.Dialect, Format: project.FormatText}
	c, err := a.Compile(strings.NewReader(""))
	if c != nil && c.Project != nil {
		defer c.Project.Close()
	}
	switch {
	case err != nil || c.Diags.HasErrors() || len(c.Results) != 1:
		return fmt.Sprintf("%s and cannot be compiled now; %s is what runs. What is wrong: ralph compile --check%s %s", said, file, record.Onto(file), words.QuotePath(epic.Epic.Plan))
	case bytes.Equal(c.Results[0].JSON, raw):
		return ""
	}
	dialect := ""
	if r := c.Results[0]; r.Unnamed {
		dialect = " --dialect " + words.QuoteArg(r.Epic.Run.Dialect)
	}
	return fmt.Sprintf("%s and would compile to another epic; %s is what runs. The difference: ralph compile --check%[3]s. To run it: ralph compile%[3]s%[4]s %[5]s", said, file, record.Onto(file), dialect, words.QuotePath(epic.Epic.Plan))
}

package compiler

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// maxManifest bounds a file that is read to find out how a project is tested.
const maxManifest = 1 << 20

// testTools tell how a project is tested, each by files at its root: all that
// answer have to give the same command.
var testTools = []struct {
	file    string
	command func(c *compilation, src []byte) string // "" if the file does not say it
}{
	{"package.json", npmTests},
	{"go.mod", func(*compilation, []byte) string { return "go test ./..." }},
	{"pytest.ini", pytest("")},
	{"pyproject.toml", pytest("[tool.pytest")},
	{"setup.cfg", pytest("[tool:pytest]")},
	{"tox.ini", pytest("[pytest]")},
	{"conftest.py", pytest("")},
	{"Cargo.toml", func(*compilation, []byte) string { return "cargo test" }},
}

func pytest(section string) func(*compilation, []byte) string {
	return func(_ *compilation, src []byte) string {
		if bytes.Contains(src, []byte(section)) {
			return "pytest"
		}
		return ""
	}
}

// npmTests runs the test script with the package manager whose lock is there.
func npmTests(c *compilation, src []byte) string {
	var m struct {
		Scripts struct {
			Test string `json:"test"`
		} `json:"scripts"`
	}
	if json.Unmarshal(src, &m) != nil || strings.TrimSpace(m.Scripts.Test) == "" || strings.Contains(m.Scripts.Test, "no test specified") {
		return ""
	}
	for _, lock := range [][2]string{{"pnpm-lock.yaml", "pnpm test"}, {"yarn.lock", "yarn test"}} {
		if c.exists(lock[0]) {
			return lock[1]
		}
	}
	return "npm test"
}

// exists reports whether the project has a file at its root.
func (c *compilation) exists(name string) bool {
	if c.in.Project == nil {
		return false
	}
	f, err := c.in.Project.Open(name)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// ownTests is the command that runs the project's own tests, as its files say; ""
// after a report. Nothing passes because nobody knew how to test it.
func (g *gating) ownTests(at diag.Range) string {
	command, file := "", ""
	for _, t := range testTools {
		src, err := g.u.c.readProject(t.file, maxManifest)
		if err != nil {
			continue
		}
		found := t.command(g.u.c, src)
		switch {
		case found == "" || found == command:
		case command == "":
			command, file = found, t.file
		default:
			g.diags.Add(diag.New("tests-unknown", at, "nobody knows how the project is tested").
				WithDetail("%s says %q and %s says %q. Write the command that is meant as testCommand.", file, command, t.file, found))
			return ""
		}
	}
	if command == "" {
		g.diags.Add(diag.New("tests-unknown", at, "nobody knows how the project is tested").
			WithDetail("No test command is given, and the root of the project has no package.json with a test script, go.mod, Cargo.toml or pytest settings. Write the command as testCommand."))
		return ""
	}
	if !g.said["tests "+command] {
		g.said["tests "+command] = true
		g.diags.Add(diag.New("tests-found", at, "the test command was found in the project").
			WithDetail("No test command is given; %s says that %q runs the tests, so that is the gate. Write it as testCommand to make it certain.", file, command))
	}
	return command
}

package compiler

import (
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/policies"
)

// ownTests is the command that runs the project's own tests, as its files say; ""
// after a report. Nothing passes only because no test is known.
func (g *gating) ownTests(at diag.Range) string {
	found := policies.DetectTests(g.u.c.in.Project)
	if len(found) == 0 {
		g.diags.Add(diag.New("tests-unknown", at, "no test command is known").
			WithDetail("No test command is given, and none of these at the root of the project gives one: Cargo.toml, pytest settings, package.json with a test script, go.mod, build.gradle, pom.xml, a justfile or Makefile with a target test. Write the command as testCommand."))
		return ""
	}
	command, file := found[0].Command, found[0].File
	if len(found) > 1 {
		g.diags.Add(diag.New("tests-unknown", at, "no test command is known").
			WithDetail("%s says %q and %s says %q. Write the command that is meant as testCommand.", file, command, found[1].File, found[1].Command))
		return ""
	}
	if !g.said["tests "+command] {
		g.said["tests "+command] = true
		g.diags.Add(diag.New("tests-found", at, "the test command was detected in the project").
			WithDetail("No test command is given; %s says that %q runs the tests, so that is the gate. Write it as testCommand to make it certain.", file, command))
	}
	return command
}

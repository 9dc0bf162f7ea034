package simulate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/simulate"
)

func TestTheScenarioOfTheDocsPlays(t *testing.T) {
	doc, err := os.ReadFile("../../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/simulate.md shows no scenario")
	}
	s, err := simulate.Parse("docs/simulate.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Agents) != 3 || len(s.Gates) != 2 || len(s.Effects) != 1 || len(s.Pulls) != 1 || len(s.People) != 3 || len(s.Crashes) != 2 {
		t.Errorf("it reads %+v", s)
	}
	res, err := simulate.Run(executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2", "2.1"}, patient), s, nil)
	if err != nil || res.Open != "" {
		t.Errorf("it ends %q, %v", res.Open, err)
	}
}

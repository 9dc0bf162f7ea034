package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// written is a file with a text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "o")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is said of several findings: what the end of the output shows is not said again.
func TestWhatToolsSaidOfEachTest(t *testing.T) {
	long := strings.Repeat("w", maxWhy)
	var many []finding
	for i := range 9 {
		many = append(many, finding{why: fmt.Sprint(i, strings.Repeat("m", 199))})
	}
	for name, c := range map[string]struct {
		found []finding
		end   string
		want  string
	}{
		"nothing":                        {nil, "", ""},
		"one, which is the reason":       {[]finding{{"A", long}}, "", ""},
		"one that the reason shortens":   {[]finding{{"A", long + "w"}}, "", "A:\n    " + long + "w\n"},
		"two":                            {[]finding{{"A", "a is 1"}, {"B", "b is 2"}}, "", "A:\n    a is 1\nB:\n    b is 2\n"},
		"one that the end shows":         {[]finding{{"A", "a is 1"}, {"B", "b is 2"}}, "… a is 1 …", "B:\n    b is 2\n"},
		"tests of which no more is said": {[]finding{{"A", ""}, {"B", ""}}, "A and B", "A\nB\n"},
		"errors of no test":              {[]finding{{"", "x.go:1: no"}, {"", strings.Repeat("y", tellingMax+1)}}, "", "x.go:1: no\n" + strings.Repeat("y", tellingMax-3) + "…\n"},
		"very many":                      {many, "", many[0].why + "\n" + many[1].why + "\n" + many[2].why + "\n" + many[3].why + "\n" + many[4].why + "\nand 4 more"},
	} {
		s := &results{found: c.found}
		for _, f := range c.found {
			s.fail(f.test)
		}
		if got := s.said(c.end); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	s := &results{found: many}
	s.note("\nkept for machines\n")
	if got := s.said(""); got != "kept for machines" {
		t.Errorf("what was kept: %q", got)
	}
}

func TestWhatIsForMachinesIsLeftOut(t *testing.T) {
	for said, want := range map[string]string{
		"one\ntwo":                                     "one\ntwo",
		"one\n{\"Action\":\"run\"}\r\ntwo\n":           "one\ntwo\n",
		"t\":\"m\",\"Action\":\"run\"}\ntwo\n":         "two\n",
		"two\n{\"Action\":\"run\",\"Pack":              "two\n",
		"{\"Action\":\"run\"}\n{\"other\": 1}\n":       "{\"other\": 1}\n",
		"{\"Action\":\"run\"}\nno \"Action\": in it\n": "no \"Action\": in it\n",
	} {
		if got := human(said); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

func TestTheEndBeginsWithALine(t *testing.T) {
	for n, want := range map[int]string{8: "one\ntwo\n", 7: "two\n", 6: "two\n", 3: "", 0: "", -1: ""} {
		if got := lastBytes("one\ntwo\n", n); got != want {
			t.Errorf("%d bytes: got %q, want %q", n, got, want)
		}
	}
}

// The first lines that say what is wrong, of both outputs, each once, and not what the end shows.
func TestTheFirstLinesThatSayWhatIsWrong(t *testing.T) {
	out := written(t, "noise\nerror: one  \nerror: one\nerror: at the end\n"+"error: "+strings.Repeat("x", tellingMax)+"\n")
	errs := written(t, "fatal: two\n"+strings.Repeat("y", 10)+"\n")
	want := "error: one\nerror: " + strings.Repeat("x", tellingMax-len("error: ")) + "\nfatal: two\n"
	if got := firstLines("error: at the end\n", out, errs); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "error: %02d\n", i)
	}
	if got := firstLines("", written(t, many.String())); len(got) < tellingSize || len(got) > tellingSize+20 || !strings.HasPrefix(got, "error: 00\n") {
		t.Errorf("of very many: %d bytes, %q", len(got), got)
	}
}

func TestFeedbackHasAllItsParts(t *testing.T) {
	var noise strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&noise, "noise %d\n", i)
	}
	path := written(t, "error: \x1b[31mone\x1b[0m\nerror: two\n"+noise.String()+"the end\n")
	got, err := feedback("exit code 1", &results{}, path, path)
	if err != nil || !strings.HasPrefix(got, "exit code 1: the end\nerror: one\nerror: two\n[…]\nnoise ") || !strings.HasSuffix(got, "\nnoise 999\nthe end\n") || len(got) > executor.MaxNote {
		t.Errorf("%d bytes, %v:\n%s", len(got), err, got)
	}
	s := &results{}
	s.note(strings.Repeat("said\n", 1000))
	got, err = feedback("exit code 1", s, path, path)
	if err != nil || len(got) > executor.MaxNote || len(got) < executor.MaxNote-20 || strings.Count(got, "said\n") != saidSize/5 || !strings.HasSuffix(got, "\nthe end\n") {
		t.Errorf("of much that was said: %d bytes, %v:\n%s", len(got), err, got)
	}
}

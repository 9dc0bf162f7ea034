//go:build unix

package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/web"
)

var (
	partOf   = regexp.MustCompile(`<script type="text/plain" id="part\d+">([^<]*)</script>`)
	inlineOf = regexp.MustCompile(`(?s)<(script|style)>(.*?)</(?:script|style)>`)
	policyOf = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
)

// answersIn are the answers that a report holds, by path.
func answersIn(t *testing.T, page string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range partOf.FindAllStringSubmatch(page, -1) {
		z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[1])))
		if err != nil {
			t.Fatal(err)
		}
		part, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(part)) {
			path, answer, cut := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !cut || out[path] != "" || !json.Valid([]byte(strings.TrimPrefix(answer, "!"))) {
				t.Errorf("a line of a part: %.100s", line)
			}
			out[path] = answer
		}
	}
	return out
}

func TestAReportIsThePageFrozen(t *testing.T) { // L0-08, S0-126, S1-54
	t.Parallel()
	n := newNight(t)
	n.ralph(3, "apply")
	if got := n.ralph(0, "report"); !strings.Contains(got, "wrote .git/ralph/bd-") {
		t.Errorf("it is written elsewhere: %s", got)
	}
	n.ralph(0, "report", "-o", "night.html")
	b, err := os.ReadFile(filepath.Join(n.dir, "night.html"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	policy := policyOf.FindStringSubmatch(page)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src &#39;none&#39;; ") && !strings.HasPrefix(policy[1], "default-src 'none'; ") {
		t.Fatalf("its policy: %q", policy)
	}
	inline := inlineOf.FindAllStringSubmatch(page, -1)
	if len(inline) != 2 {
		t.Errorf("%d inline scripts and styles", len(inline))
	}
	for _, m := range inline {
		sum := sha256.Sum256([]byte(m[2]))
		if want := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(strings.ReplaceAll(policy[1], "&#43;", "+"), want) {
			t.Errorf("the policy does not allow its own %s", m[1])
		}
	}
	fallback := page[strings.Index(page, "<noscript>"):strings.Index(page, "</noscript>")]
	for _, want := range []string{
		"Waits for a person", "Sign-in", "ralph approve 2.1", "Failed", "FAIL TestRefund: got 0, want 12.50", "git merge ralph/plan/integration", "<th scope=\"row\">2.3</th><td>· pending", "✔ done",
	} {
		if !strings.Contains(fallback, want) {
			t.Errorf("without script it does not say %q", want)
		}
	}
	for _, never := range []string{"<script src", "<link", "url(", "@import", `type="module"`, n.dir, "<img"} {
		if strings.Contains(strings.ReplaceAll(page, inline[1][2], ""), never) {
			t.Errorf("it holds %q", never)
		}
	}
	answers := answersIn(t, page)
	var failed web.Sprint
	for path, answer := range answers {
		if strings.HasSuffix(path, "/nodes/1.2") {
			if err := json.Unmarshal([]byte(answer), &failed); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a := failed.Show.Attempts; failed.Show.Key != "1.2" || len(a) != 2 || a[0].Status != "failed" || a[0].FilesChanged != 1 || a[0].Tokens != nil || len(a[0].Gates) != 1 || a[0].Gates[0].Verdict != "fail" {
		t.Errorf("the attempts of 1.2: %+v", a)
	}
	n.holds(answers, "/inbox", "/repos", "", "/graph", "/status", "/runs", "/timeline", "/cost", "/trust", "/result", "/log?limit=100", "/nodes/1.2", "/nodes/1.2/why", "/log?limit=100&key=1.2")
}

// holds checks the answers of a report: they are the server's, and there are those that are wanted.
func (n *night) holds(answers map[string]string, wanted ...string) {
	n.t.Helper()
	epic := ""
	for path, answer := range answers {
		if strings.Contains(answer, n.dir) || strings.Contains(answer, filepath.Dir(n.dir)) {
			n.t.Errorf("%s holds a path of this machine", path)
		}
		if strings.Contains(answer, "ghp_") {
			n.t.Errorf("%s holds a secret", path)
		}
		if strings.HasSuffix(path, "/graph") {
			epic = strings.TrimSuffix(path, "/graph")
		}
		if !strings.Contains(path, "/files/") && answer[0] != '!' {
			web.Conforms(n.t, http.MethodGet, "/api/v1"+path, http.StatusOK, "application/json", []byte(answer))
		}
	}
	for _, want := range wanted {
		if !strings.HasPrefix(want, "/inbox") && !strings.HasPrefix(want, "/repos") {
			want = epic + want
		}
		if answers[want] == "" {
			n.t.Errorf("the report has no %s", want)
		}
	}
}

func TestAReportHasTextsOnlyIfTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.ralph(3, "apply")
	about := func(with ...string) (prompts, logs, diffs bool) {
		n.ralph(0, slices.Concat([]string{"report", "-o", "r.html"}, with)...)
		b, err := os.ReadFile(filepath.Join(n.dir, "r.html"))
		if err != nil {
			t.Fatal(err)
		}
		answers := answersIn(t, string(b))
		n.holds(answers)
		for path, answer := range answers {
			prompts = prompts || strings.HasSuffix(path, "/agent-1.prompt.md") || strings.HasSuffix(path, "/plan") || strings.Contains(answer, "sign in with a password") ||
				strings.Contains(answer, "Attempt 1 of step implement failed") && !strings.Contains(path, "/diff") // its agent writes it down
			logs = logs || strings.HasSuffix(path, "/gate-unit.log") && strings.Contains(answer, "FAIL TestRefund")
			diffs = diffs || strings.HasSuffix(path, "/diff") && strings.Contains(answer, `"patch":"diff`)
		}
		return prompts, logs, diffs
	}
	if p, l, d := about(); p || l || d {
		t.Errorf("without --with: prompts %v, logs %v, diffs %v", p, l, d)
	}
	if p, l, d := about("--with", "prompts"); !p || l || d {
		t.Errorf("prompts: prompts %v, logs %v, diffs %v", p, l, d)
	}
	if p, l, d := about("--with", "logs,diffs"); p || !l || !d {
		t.Errorf("logs,diffs: prompts %v, logs %v, diffs %v", p, l, d)
	}
	if got := n.ralph(2, "report", "--with", "everything"); !strings.Contains(got, "--with everything: write prompts, logs or diffs") {
		t.Error(got)
	}
}

// An epic that comes from elsewhere has no file that a plan could be compiled to.
func TestAReportNeedsNoFileOfTheEpic(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.ralph(3, "apply")
	b, err := os.ReadFile(filepath.Join(n.dir, "epic.json"))
	if err == nil {
		err = os.Remove(filepath.Join(n.dir, "epic.json"))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := n.command(filepath.Join(n.bin, "ralph"), "report", "-", "-o", "-")
	cmd.Stdin = bytes.NewReader(b)
	page, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := answersIn(t, string(page))
	n.holds(answers, "/nodes/1.2")
	for path, answer := range answers {
		if strings.HasSuffix(path, "/nodes/1.2/why") && !strings.HasPrefix(answer, "!") {
			t.Errorf("where its values come from: %s", answer)
		}
	}
}

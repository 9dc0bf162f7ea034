package web_test

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/web"
)

// guarded checks what every answer says, whoever asked.
func guarded(t *testing.T, what string, h http.Header) {
	t.Helper()
	policy := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy+";", part+";") {
			t.Errorf("%s: policy %q is without %s", what, policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("%s: policy %q", what, policy)
	}
	for name, want := range map[string]string{
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff", "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
		"Set-Cookie": "", "Access-Control-Allow-Origin": "", // no cookie, and no open door
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %s is %q, not %q", what, name, got, want)
		}
	}
}

// usualPort is the port of a repository, by its git directory.
func (n *night) usualPort() int {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(filepath.Join(n.dir, ".git"))) // never fails
	return 20000 + int(sum.Sum32()%10000)
}

// The link that notify gives is where the page is, and holds no token.
func TestTheLinkOfNotifyIsThatOfThePage(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	told := filepath.Join(filepath.Dir(n.dir), "told")
	n.policy(fmt.Sprintf("notify {\n  on  = [\"node.waiting\", \"node.blocked\", \"run.done\"]\n  run = [\"sh\", \"-c\", \"echo \\\"$RALPH_EVENT $RALPH_URL\\\" >> %s\"]\n}\n", told))
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	link := fmt.Sprintf("http://127.0.0.1:%d/#/e/%s", n.usualPort(), p.only().ID)
	b, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"node.blocked " + link + "/n/1.2\n", "node.waiting " + link + "/n/2.1\n", "node.waiting " + link + "/n/2.2\n", "run.done " + link + "\n"} {
		if strings.Count("\n"+string(b), "\n"+line) != 1 {
			t.Errorf("it was told\n%snot once %s", b, line)
		}
	}
	if !p.usual {
		t.Skip("NOT TESTED: that the page is there: another program has its port")
	}
	if !strings.HasPrefix(link, p.url+"#") {
		t.Errorf("the page is at %s, not at %s", p.url, link)
	}
}

// A repository's page is always in the same place; while another one is there, it is next to
// it, and that is said.
func TestThePortOfARepository(t *testing.T) {
	t.Parallel()
	n, other := newNight(t), newNight(t)
	at := func(port int) string { return fmt.Sprintf("http://127.0.0.1:%d/", port) }
	var first *page
	for _, dirs := range [][]string{{n.dir}, {n.dir, other.dir}, {filepath.Join(n.dir, ".git", ".."), n.dir}} {
		if first = serve(t, web.Options{Dirs: dirs}); !first.usual {
			t.Skip("NOT TESTED: another program has the port of this repository")
		}
		if first.url != at(n.usualPort()) {
			t.Errorf("%q: at %s, not at %s", dirs, first.url, at(n.usualPort()))
		}
		first.stop()
	}
	if p := serve(t, web.Options{Dirs: []string{other.dir, n.dir}}); p.usual && p.url != at(other.usualPort()) {
		t.Errorf("of the other repository first: at %s, not at %s", p.url, at(other.usualPort()))
	}
	first = serve(t, web.Options{Dirs: []string{n.dir}})
	second, _ := n.ui()
	if second.url == first.url || second.url != at(n.usualPort()+1) && second.url != at(n.usualPort()+2) || second.usual {
		t.Errorf("beside the one at %s: at %s (the usual port: %v)", first.url, second.url, second.usual)
	}
	if a, b := first.only().ID, second.only().ID; a != b {
		t.Errorf("%s there, %s here", a, b)
	}
	if _, err := web.Listen(t.Context(), web.Options{Dirs: []string{n.dir}, Port: n.usualPort()}); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("the port that was asked for is taken: %v", err)
	}
}

package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("OFFLINE_TEST") != "" || os.Getenv(insideVar) != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// offline runs this program as offline.
func offline(t *testing.T, env []string, argv ...string) (out string, code int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, argv...)
	cmd.Env = append(append(os.Environ(), "OFFLINE_TEST=1"), env...)
	b, err := cmd.CombinedOutput()
	return string(b), codeOf(err)
}

func TestACommandIsOfflineOrItIsSaid(t *testing.T) {
	out, code := offline(t, nil, "sh", "-c", "echo ran; cat /proc/net/dev 2>/dev/null; exit 3")
	if code != 3 || !strings.Contains(out, "ran\n") {
		t.Fatalf("got code %d\n%s", code, out)
	}
	proved := strings.Contains(out, "PROVED: only loopback")
	if said := strings.Contains(out, "NOT PROVED"); said == proved {
		t.Errorf("it does not say whether it is proved:\n%s", out)
	}
	if proved && (strings.Contains(out, "eth0") || !strings.Contains(out, "lo:")) {
		t.Errorf("the command sees more than loopback:\n%s", out)
	}
	t.Logf("on %s: %s", runtime.GOOS, strings.SplitN(out, "\n", 2)[0])
}

func TestRequiredMeansRequired(t *testing.T) {
	out, code := offline(t, []string{"RALPH_OFFLINE=require"}, "sh", "-c", "echo ran")
	if strings.Contains(out, "NOT PROVED") == (code == 0) {
		t.Errorf("got code %d\n%s", code, out)
	}
}

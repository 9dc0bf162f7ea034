package sandbox

import (
	"slices"
	"strings"
	"testing"
)

func TestLandlockSaysWhatItLacks(t *testing.T) {
	for abi, want := range map[int]string{0: "no Landlock", 1: "ABI 1 cannot hold network", 3: "ABI 3 cannot hold network to hosts: use Linux 6.7 or later", 4: "", 7: ""} {
		if err := landlock(abi); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("ABI %d: %v, want %q", abi, err, want)
		}
	}
	for abi, said := range map[int]bool{0: false, 3: false, 4: true, 5: true, 6: false, 7: false} {
		if got := weak(abi); (got != "") != said {
			t.Errorf("ABI %d: %q", abi, got)
		}
	}
}

// What names the user's home directory names the program's, but for what is shown.
func TestTheEnvironmentLeadsToTheProgramsHome(t *testing.T) {
	got := moved([]string{
		"HOME=/home/ann", "PATH=/home/ann/bin:/usr/bin", "TMPDIR=/tmp", "XDG_CONFIG_HOME=/home/ann/.config", "GOMODCACHE=/home/ann/go/pkg/mod", "GOBIN=/home/ann/tools/bin",
		"OUT=/home/ann/out/x", "LIST=/home/ann/a:/home/ann/b", "OTHER=/home/anna/x", "SAID=hello", "CACHE=/c/d",
	}, "/home/ann", "/state/home", "/temp", []place{{"/home/ann/go/pkg/mod", "/home/ann/go/pkg/mod"}, {"/home/ann/tools", "/home/ann/tools"}, {"/home/ann/out", "/upper"}, {"/c", "/e"}})
	want := []string{
		"HOME=/state/home", "PATH=/home/ann/bin:/usr/bin", "TMPDIR=/temp", "XDG_CONFIG_HOME=/state/home/.config", "GOMODCACHE=/home/ann/go/pkg/mod", "GOBIN=/home/ann/tools/bin",
		"OUT=/upper/x", "LIST=/home/ann/a:/home/ann/b", "OTHER=/home/anna/x", "SAID=hello", "CACHE=/e/d", "HOME=/state/home",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

package cli

import (
	"strings"
	"testing"
)

func TestAnSVGWithoutGraphvizSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := graphviz([]byte("digraph {}"))
	if err == nil || !strings.Contains(err.Error(), "apt-get install graphviz") {
		t.Errorf("got %v, want what to install", err)
	}
}

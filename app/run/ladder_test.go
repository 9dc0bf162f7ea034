package run

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// auto takes the first kind that works, and says of all of them why nothing does.
func TestAutoTakesTheFirstKindThatWorks(t *testing.T) {
	t.Parallel()
	ok := func() error { return nil }
	off := func(kind wall.Kind) func() error {
		return func() error { return &sandbox.Unavailable{Kind: kind, Why: "it is off", Mend: "mend " + string(kind)} }
	}
	works := attempts{wall.Namespaces: ok, wall.Bwrap: func() error { return errors.New("it was tried, and not needed") }}
	lacks := attempts{wall.Namespaces: off(wall.Namespaces), wall.Bwrap: ok}
	none := attempts{wall.Namespaces: off(wall.Namespaces), wall.Bwrap: off(wall.Bwrap), wall.Landlock: off(wall.Landlock)}
	less := attempts{wall.Namespaces: off(wall.Namespaces), wall.Bwrap: off(wall.Bwrap), wall.Landlock: ok}
	for _, c := range []struct {
		on     attempts
		kind   string
		accept string
		want   wall.Kind
		says   []string
	}{
		{works, "auto", "", wall.Namespaces, nil},
		{lacks, "auto", "", wall.Bwrap, nil},
		{lacks, "bwrap", "", wall.Bwrap, nil},
		{lacks, "namespaces", "", "", []string{"mend namespaces"}},
		{none, "auto", "", "", []string{"mend namespaces", "mend bwrap"}},
		{works, "auto", "landlock", wall.Namespaces, nil},
		{less, "auto", "landlock", wall.Landlock, nil},
		{less, "landlock", "", wall.Landlock, nil},
		{less, "auto", "", "", []string{"mend namespaces", "mend bwrap", `or write accept = "landlock"`}},
		{none, "auto", "landlock", "", []string{"mend bwrap", "mend landlock"}},
		{works, "bwrap", "", "", []string{"not needed"}},
	} {
		got, err := c.on.strongest(c.kind, c.accept)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %s, %v; want %q", c.kind, got, err, c.want)
		}
		for _, want := range c.says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.kind, err, want)
			}
		}
	}
}

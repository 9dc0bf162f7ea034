package workspace

import (
	"context"
	"strings"
)

// Unpinned reports whether no base is pinned for the epic yet.
func (s Bases) Unpinned(ctx context.Context) (bool, error) {
	list, err := s.pins(ctx)
	return len(list) == 0, err
}

// Unpin takes the pinned bases away again, of a run that did not begin. The caller
// holds the run lock.
func (s Bases) Unpin(ctx context.Context) error {
	list, err := s.pins(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = s.git.run(ctx, place{}, "delete "+strings.Join(list, "\ndelete ")+"\n", nil, "update-ref", "--no-deref", "-m", "ralph: nothing began", "--stdin")
	return err
}

func (s *space) pins(ctx context.Context) ([]string, error) {
	out, err := s.git.line(ctx, place{}, "for-each-ref", "--format=%(refname) %(objectname)", s.prefix()+"base", s.prefix()+"nodes/*/base")
	var list []string
	for line := range strings.Lines(out) {
		list = append(list, strings.TrimSpace(line))
	}
	return list, err
}

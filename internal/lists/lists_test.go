package lists_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/ralph-compiler/ralph/internal/lists"
)

func TestLists(t *testing.T) {
	list := []int{3, 1, 3}
	if got := lists.Map(list, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "3"}) {
		t.Errorf("Map: %q", got)
	}
	if got := lists.Map(nil, strconv.Itoa); got == nil || len(got) > 0 {
		t.Errorf("Map of nothing: %#v", got)
	}
	if got := lists.Keep(list, func(n int) bool { return n > 1 }); !slices.Equal(got, []int{3, 3}) {
		t.Errorf("Keep: %v", got)
	}
	if got := lists.Keep(list, func(int) bool { return false }); got != nil {
		t.Errorf("Keep of nothing: %#v", got)
	}
	for i, n := range lists.Each(list) {
		if n != &list[i] {
			t.Errorf("Each: %d", i)
		}
		if i == 1 {
			break
		}
	}
	if got := lists.Find(list, func(n *int) bool { return *n < 3 }); got != &list[1] {
		t.Errorf("Find: %v", got)
	}
	if got := lists.Find(list, func(n *int) bool { return *n > 3 }); got != nil {
		t.Errorf("Find of none: %v", got)
	}
	if got := lists.Count(list, func(n *int) bool { return *n == 3 }); got != 2 {
		t.Errorf("Count: %d", got)
	}
	if got := lists.Include([]int{2, 2}, 3, 2, 3, 1); !slices.Equal(got, []int{2, 2, 3, 1}) {
		t.Errorf("Include: %v", got)
	}
	if got := lists.Set(list); !maps.Equal(got, map[int]bool{1: true, 3: true}) {
		t.Errorf("Set: %v", got)
	}
	if got := lists.SetOf(list, func(n *int) int { return -*n }); !maps.Equal(got, map[int]bool{-1: true, -3: true}) {
		t.Errorf("SetOf: %v", got)
	}
	if got := lists.Index(list, func(n *int) int { return *n }); !maps.Equal(got, map[int]int{1: 1, 3: 2}) {
		t.Errorf("Index: %v", got)
	}
	if got := lists.Table(list, func(n int) (int, string) { return n, strconv.Itoa(n) }); !maps.Equal(got, map[int]string{1: "1", 3: "3"}) {
		t.Errorf("Table: %v", got)
	}
	if got := lists.Pointers(list, func(n *int) int { return *n }); len(got) != 2 || got[1] != &list[1] || got[3] != &list[2] {
		t.Errorf("Pointers: %v", got)
	}
	if got := lists.Merged(map[int]int{1: 1, 2: 2}, nil, map[int]int{2: 3}); !maps.Equal(got, map[int]int{1: 1, 2: 3}) {
		t.Errorf("Merged: %v", got)
	}
	if got := lists.Merged[int, int](nil); got == nil {
		t.Error("Merged of nothing is nil")
	}
	for n := range lists.Refs(list) {
		if *n++; *n == 2 {
			break
		}
	}
	if !slices.Equal(list, []int{4, 2, 3}) {
		t.Errorf("changed through Refs: %v", list)
	}
}

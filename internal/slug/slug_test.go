package slug

import (
	"strings"
	"testing"
)

// S0-120, S0-119, K8
func TestMake(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"spaces and case fold", "Project Setup", "project-setup"},
		{"runs of signs are one dash", "a -- b / c", "a-b-c"},
		{"dashes at the ends are trimmed", "  (parallel) ", "parallel"},
		{"marks are dropped", "Über Größe café", "uber-gro-e-cafe"},
		{"full width letters are plain", "ＡＰＩ　２", "api-2"},
		{"ligatures come apart", "ﬁle", "file"},
		{"the Kelvin sign is a k", "3 K", "3-k"},
		{"other scripts leave the fallback", "数据库", "sprint"},
		{"nothing leaves the fallback", "", "sprint"},
		{"invalid UTF-8 is a gap", "a\xffb", "a-b"},
		{"terminal escapes are gaps", "\x1b[31mred", "31mred"},
		{"forty bytes are kept and no dash is left behind", strings.Repeat("ab-", 20), strings.Repeat("ab-", 13) + "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Make(c.in); got != c.want {
				t.Errorf("Make(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestACutNeverEndsWithADash(t *testing.T) {
	for n := range 80 {
		got := Make(strings.Repeat("a", n) + " " + strings.Repeat("b", 80))
		if strings.HasSuffix(got, "-") || len(got) > MaxBytes {
			t.Errorf("%d letters: %q", n, got)
		}
	}
}

// S0-119
func TestRef(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a dot is a dash", "3a.2b", "3a-2b"},
		{"long keys are not cut", strings.Repeat("a1.", 30) + "x", strings.Repeat("a1-", 30) + "x"},
		{"upper case folds", "T046B", "t046b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Ref(c.in); got != c.want {
				t.Errorf("Ref(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzMake(f *testing.F) {
	f.Add("Über\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Make(s)
		if got == "" || len(got) > MaxBytes || got != Make(got) && Make(got) != got {
			t.Errorf("Make(%q) = %q", s, got)
		}
		for _, r := range got {
			if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
				t.Errorf("Make(%q) = %q", s, got)
			}
		}
	})
}

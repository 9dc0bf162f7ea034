package policies

import "testing"

func TestVersionsAreCompared(t *testing.T) { // S4-133
	for _, c := range []struct {
		constraint, version string
		fits, ok            bool
	}{
		{">= 2.1.328, < 2.2", "2.1.328", true, true},
		{">= 2.1.328, < 2.2", "2.1.400", true, true},
		{">= 2.1.328, < 2.2", "2.2.0", false, true},
		{">= 2.1.328, < 2.2", "2.2.0-rc.1", false, true},
		{">= 1.18", "v1.18.33", true, true},
		{">= 1", "soon", false, false},
		{"about 1", "1.0", false, false},
	} {
		if fits, err := VersionFits(c.constraint, c.version); fits != c.fits || (err == nil) != c.ok {
			t.Errorf("%s meets %q: %t, %v; want %t", c.version, c.constraint, fits, err, c.fits)
		}
	}
}

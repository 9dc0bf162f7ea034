package policies

import "testing"

func TestASizeIsANumberWithAUnit(t *testing.T) {
	for in, want := range map[string]int64{
		"10GB": 10e9, "100 M": 100e6, "100MB": 100e6, "512 MiB": 512 << 20, "1.5k": 1500, "7": 7, " 2 B ": 2,
	} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "M", "100 X", "1 0 M", "-1GB", "10 GB free", "NaN", "Inf", "1e300GB", "0x10M"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("%q is taken for %d", in, got)
		}
	}
}

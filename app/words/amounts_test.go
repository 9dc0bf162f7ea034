package words

import (
	"testing"
	"time"
)

func TestBriefHasOneUnitBelowAMinute(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", time.Millisecond: "0.1s", 182 * time.Millisecond: "0.2s", 949 * time.Millisecond: "0.9s", 950 * time.Millisecond: "1s",
		time.Second: "1s", 59_900 * time.Millisecond: "59s", 185 * time.Second: "3m05s", 130 * time.Minute: "2h10m", 76 * time.Hour: "3d4h",
	} {
		if got := Brief(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
}

// The same is in web/test/words.test.ts.
func TestAmountsBelowACentHaveFourDecimals(t *testing.T) {
	for micro, want := range map[int64]string{0: "$0.00", 1: "$0.0000", 4_200: "$0.0042", 9_999: "$0.0100", 10_000: "$0.01", 1_234_567: "$1.23"} {
		if got := Dollars(micro); got != want {
			t.Errorf("%d millionths: got %q, want %q", micro, got, want)
		}
	}
}

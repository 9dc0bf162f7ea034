package process

import (
	"os"
	"testing"
)

// TestWhatIsThrownAwayIsNoFile: the device stays what it is.
func TestWhatIsThrownAwayIsNoFile(t *testing.T) {
	before, err := os.Lstat(os.DevNull)
	if err != nil || before.Mode().IsRegular() {
		t.Fatalf("%s is no device: %v, %v", os.DevNull, before, err)
	}
	w, err := Create(os.DevNull, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("x"))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	after, err := os.Lstat(os.DevNull)
	if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() {
		t.Errorf("%s was replaced: %v, %v", os.DevNull, after, err)
	}
}

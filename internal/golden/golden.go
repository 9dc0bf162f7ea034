// Package golden compares what a test got with a file that was read and found right.
//
// In: a file, usually below testdata, and bytes. Out: an error of the test where they
// differ; with -update the file is written instead. It imports only the standard
// library, and only tests import it; a package whose tests do must not define -update.
package golden

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Check fails the test if a file does not hold exactly these bytes; it goes on. With
// -update it writes them.
func Check(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update rewrites it. got\n%s\nwant\n%s", file, got, want)
	}
}

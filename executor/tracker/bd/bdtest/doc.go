// Package bdtest is a stand-in for the bd program, for tests that must be quick or
// that need faults: a beads database in one JSON file with bd's command line.
//
// A test binary that calls Main first in its TestMain is the program: New makes a
// link named bd to the test binary. What the stand-in does was seen at bd 1.3.0; a
// contract test of the package runs the same calls against both.
// It also does what is a trap: it takes a part of an id for the one bead that it fits,
// takes a row without updated_at for newer than everything, and exits 0 with help for
// commands that do not exist.
//
// It imports only the standard library.
package bdtest

// Package bdtest is a stand-in for the bd program, for tests that must be fast or
// need faults: a beads database in one JSON file with bd's command line.
//
// The program is bdtest/bd, which New builds once for a test binary. The behaviour is that of bd 1.3.0; a contract test of the
// package runs the same calls against both.
// It reproduces bd's traps, too: part of an id is taken for the one bead that matches,
// a row without updated_at is newer than everything, and unknown commands exit 0 with
// help.
//
// It imports only the standard library.
package bdtest

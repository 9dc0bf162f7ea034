package bd

import (
	"fmt"
	"os"
	"strings"
)

// Tested is the range of bd versions that ralph was tried with.
const Tested = ">= 1.3.0, < 1.4"

// AnsweredFor is the variable by which a user vouches for a bd that ralph was not tried
// with: its value is bd's version, or only its major.minor.
const AnsweredFor = "RALPH_BD_VERSION"

// Untested is the warning that ralph was not tried with this bd; "" if it was.
func (d Database) Untested() string {
	if major, minor, ok := numbers(d.Version); ok && major == 1 && minor == 3 {
		return ""
	}
	return fmt.Sprintf("ralph was not tried with bd %s; tried: %s", d.Version, Tested)
}

// allowed refuses a bd that ralph was not tried with, unless a user vouches for it.
func (d Database) allowed(program string) error {
	major, minor, ok := numbers(d.Version)
	if ok && major < 1 {
		return &Missing{Why: fmt.Sprintf("bd %s at %s is too old: ralph needs %s", d.Version, program, Tested), Type: "Install a newer one: https://github.com/steveyegge/beads"}
	}
	short := d.Version
	if ok {
		short = fmt.Sprintf("%d.%d", major, minor)
	}
	if answered := os.Getenv(AnsweredFor); d.Untested() == "" || answered == short || answered == d.Version {
		return nil
	}
	return &Missing{
		Why: fmt.Sprintf("bd at %s is version %s; ralph was tried with %s and does not use another: a newer bd changes a database so that older ones cannot open it",
			program, d.Version, Tested),
		Type:     fmt.Sprintf("Put a bd of that range first in PATH. If your beads are kept by bd %s anyway, answer for it: %s=%s", short, AnsweredFor, short),
		Untested: true,
	}
}

// skew is how bd begins to say that a newer bd has changed the database.
const skew = "schema version mismatch: database is at v"

// explained is what bd said, and what to do about it where bd's own advice (to build
// it anew, to go on regardless) is of no use to a user of ralph.
func (d Database) explained(said string) string {
	if !strings.Contains(said, skew) {
		return said
	}
	return fmt.Sprintf("%s. A newer bd has changed this database, and bd %s cannot open it any more: put the newer one first in PATH, and answer for it (%s=its version)",
		said, d.Version, AnsweredFor)
}

// numbers are the first two of a version.
func numbers(version string) (major, minor int, ok bool) {
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return major, minor, n == 2
}

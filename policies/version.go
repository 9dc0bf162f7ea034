package policies

import (
	"fmt"

	"github.com/hashicorp/go-version"
)

// VersionFits reports whether a version, such as "2.1.328", meets a constraint,
// such as ">= 2.1, < 3". A pre-release stands for the release that it leads to.
func VersionFits(constraint, v string) (bool, error) {
	want, err := version.NewConstraint(constraint)
	if err != nil {
		return false, fmt.Errorf("%q is not a version constraint", constraint)
	}
	have, err := version.NewVersion(v)
	if err != nil {
		return false, fmt.Errorf("%q is not a version", v)
	}
	return want.Check(have.Core()), nil
}

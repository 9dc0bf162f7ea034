package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern of this size with this many open ends is matched in no time; without
// the bounds, nested alternatives and ** could be made to backtrack for ever.
const maxGlobBytes, maxGlobStars, maxGlobBraces = 512, 8, 8

// CheckGlob says what is wrong with a glob: "**", "*", "?", "[a-z]" and
// "{a,b}" are known, "/" separates. nil if nothing.
func CheckGlob(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("the pattern is empty")
	case len(pattern) > maxGlobBytes:
		return fmt.Errorf("the pattern has more than %d bytes", maxGlobBytes)
	case strings.Count(pattern, "*") > 2*maxGlobStars, strings.Count(pattern, "{") > maxGlobBraces:
		return errors.New("the pattern has too many stars or braces")
	case !doublestar.ValidatePattern(pattern):
		return errors.New("the pattern cannot be read: a bracket or brace is not closed")
	}
	return nil
}

// MatchGlob reports whether a path with forward slashes fits a glob. A pattern
// that CheckGlob refuses fits nothing.
func MatchGlob(pattern, path string) bool {
	return CheckGlob(pattern) == nil && doublestar.MatchUnvalidated(pattern, path)
}

var errTooMany = errors.New("too many names")

// globFiles returns the files of the project that fit, sorted. Directories
// behind symbolic links are not entered, .git is left out.
func globFiles(fsys fs.FS, pattern string, limit int) ([]string, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if err := CheckGlob(pattern); err != nil {
		return nil, err
	}
	base, _ := doublestar.SplitPattern(pattern)
	var names []string
	visited := 0
	err := fs.WalkDir(fsys, base, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // not there or not readable: nothing fits below it
		}
		if visited++; visited > 20*limit {
			return errTooMany
		}
		if e.IsDir() {
			if e.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if doublestar.MatchUnvalidated(pattern, name) {
			if names = append(names, name); len(names) > limit {
				return errTooMany
			}
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		return nil, fmt.Errorf("the pattern fits more than %d files", limit)
	}
	slices.Sort(names)
	return names, nil
}

//go:build unix && !linux

package cli

import "errors"

const mntDetach = 0

func mountTmpfs(string, string) error { return errors.New("only on Linux") }

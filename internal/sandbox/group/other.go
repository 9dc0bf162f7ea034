//go:build !linux

package group

import (
	"context"
	"runtime"
)

func base(context.Context, []Controller) (string, error) {
	return "", &Lacking{Why: "there are no groups on " + runtime.GOOS}
}

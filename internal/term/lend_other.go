//go:build !unix

package term

import "os"

func (s *Seat) follow(*os.File) (stop func()) { return func() {} }

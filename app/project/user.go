package project

import (
	"fmt"
	"os"
	"os/user"
)

// UserName is the login name of the user who runs ralph, or "uid N" if the system has
// no name for the uid.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

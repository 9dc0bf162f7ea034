package journal

import (
	"fmt"

	"zombiezen.com/go/sqlite/sqlitex"
)

// Format 1 had the tables meta and events, as they are now, and nothing else.

// migrate brings a file of an older format to the present one, in one
// transaction; the events stay as they are. Readers take a file of format 1 as
// it is: it has no letters.
func (l *Log) migrate(version int64) (err error) {
	if version != 1 {
		return fmt.Errorf("format %d cannot be brought to format %d", version, format)
	}
	end, err := sqlitex.ImmediateTransaction(l.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	l.format = format
	return sqlitex.ExecuteScript(l.conn, inboxTable+views+fmt.Sprintf("PRAGMA user_version = %d;", format), nil)
}

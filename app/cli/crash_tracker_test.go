//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// trackerWork passes at the second try in 1.2.
const trackerWork = `
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
if [ -s "$RALPH_FEEDBACK" ]; then echo fixed >> "out-$RALPH_NODE.txt"; fi
`

func trackerEpic() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Prefix: "bd", Actor: "ralph", PollMS: 600_000}
		g := e.Gates["check"]
		g.Run = crashCheck + `; test "$RALPH_NODE" != 1.2 || grep -q fixed out-1.2.txt; r=$?; point "gate.check.$at.end"; exit $r`
		e.Gates["check"] = g
	})
}

// bdScript stands before the stand-in for bd: each call that writes is a point before
// and after.
const bdScript = `#!/bin/sh
TOP=SITE
. "$TOP/bin/point.sh"
cd "$TOP/tracker"
of=$1
case $1 in
import|batch|"config") ;;
update|close|set-state) of=$1.$2;;
comments) if [ "$2" != add ]; then exec PROGRAM "$@"; fi; of=$1.$3;;
*) exec PROGRAM "$@";;
esac
case $of in
*.*)
	n=1
	while read -r line; do
		if [ "$line" = "bd.$of.$n.begin" ]; then n=$((n + 1)); fi
	done < "$TOP/log/points"
	of=$of.$n;;
esac
point "bd.$of.begin"
PROGRAM "$@"
code=$?
point "bd.$of.end"
exit $code
`

// tracker gives the site a beads database of the stand-in, beside the project.
func (s *site) tracker() {
	s.t.Helper()
	f := bdtest.New(s.t)
	s.write("../tracker/.keep", "")
	f.Init(filepath.Join(s.top, "tracker"))
	s.write("../bin/bd", strings.NewReplacer("SITE", s.top, "PROGRAM", f.Program).Replace(bdScript))
}

// beads is what a run leaves in the database, as far as it does not say when: each
// bead as it stands and what was said about it. What was written twice is an error.
func (s *site) beads() string {
	s.t.Helper()
	var db struct {
		Issues []struct {
			Issue struct {
				ID, Status, Assignee string
				Labels               []string
				CloseReason          string `json:"close_reason"`
				Comments             []struct{ Text string }
				Metadata             map[string]json.RawMessage
			}
			Events []struct {
				Type    string `json:"event_type"`
				Comment string
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(s.top, "tracker/.beads/fake-bd.json"))
	if err == nil {
		err = json.Unmarshal(b, &db)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, i := range db.Issues {
		id := i.Issue.ID
		if strings.HasPrefix(id, "bd-epic.") {
			continue // why the mode changed: each run that was interrupted says so
		}
		lines = append(lines, fmt.Sprint(id, " ", i.Issue.Status, " ", i.Issue.Labels, " ", len(i.Issue.Metadata)))
		happened := map[string]int{}
		for _, e := range i.Events {
			switch e.Type {
			case "closed", "label_added", "label_removed":
				if what := e.Type + " " + e.Comment; id != "bd-epic" {
					if happened[what]++; happened[what] > 1 {
						s.t.Errorf("%s: %s, %d times", id, what, happened[what])
					}
				}
			}
		}
		said := map[string]int{}
		for _, c := range i.Issue.Comments {
			for l := range strings.Lines(c.Text) {
				l = strings.TrimSpace(l)
				if said[l]++; l != "" && said[l] > 1 {
					s.t.Errorf("%s says %d times %q", id, said[l], l)
				}
				if strings.HasPrefix(l, "[iter:") {
					lines = append(lines, id+" "+l)
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

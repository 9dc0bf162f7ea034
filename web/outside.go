package web

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// lookOutEvery is how often it is looked at what no event tells of, at most.
const lookOutEvery = time.Second

// outside is what answers hold that no event tells of. The epic's mutex guards it.
type outside struct {
	count  int64             // of the epic's changes, when it was looked at
	of     string            // what there was to look at
	undone []bool            // whether the changes by others were taken back, in their order
	files  map[ir.Key]string // that the programs of running sprints write
	due    time.Time         // not before that again, unless there is something else to look at
}

// writer is a program that writes now.
type writer struct {
	key  ir.Key
	dir  string // of its attempt's files
	turn string
}

// lookOut looks at the checkout and at the files that are being written, and reports whether
// anything is other than it was. The mutex is taken at its ends alone.
func (l *live) lookOut() bool {
	l.mu.Lock()
	rests := time.Now().Before(l.outside.due)
	if l.outside.count == l.count && rests {
		l.mu.Unlock()
		return false
	}
	writers, drifts := l.writers(), lists.Map(l.rec.Run.Watch().Tampers(), func(t machine.Tamper) executor.Drift { return t.Drift })
	of, space := fmt.Sprint(writers, len(drifts)), l.rec.Space
	count := l.count
	if l.outside.of == of && rests {
		l.outside.count = count
		l.mu.Unlock()
		return false
	}
	l.mu.Unlock()
	began := time.Now()
	files := map[ir.Key]string{}
	for _, w := range writers {
		if names := filesOfTurn(record.AttemptFiles(w.dir), w.turn); len(names) > 0 {
			files[w.key] = names[len(names)-1]
		}
	}
	var undone []bool
	if len(drifts) > 0 {
		undone = space.Checkout.Undone(drifts)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.outside
	l.outside = outside{count, of, undone, files, time.Now().Add(max(lookOutEvery, 50*time.Since(began)))}
	if slices.Equal(was.undone, undone) && sameFiles(was.files, files) {
		return false
	}
	if l.changed(); l.outside.count == l.count-1 {
		l.outside.count = l.count
	}
	return true
}

func sameFiles(a, b map[ir.Key]string) bool {
	if len(a) != len(b) {
		return false
	}
	for key, file := range a {
		if b[key] != file {
			return false
		}
	}
	return true
}

// writers are the programs that write now; the caller holds the mutex.
func (l *live) writers() (out []writer) {
	if !l.rec.Held {
		return nil
	}
	for _, v := range l.views() {
		k := len(v.Attempts) - 1
		if k < 0 || v.Status != executor.Running {
			continue
		}
		a := v.Attempts[k]
		turns := turnsOf(l.rec.Events, v.ID, a.Step, a.Number)
		if i := current(turns); i >= 0 {
			out = append(out, writer{v.Key, l.filesOf(v, a.Step, a.Number), turns[i].name})
		}
	}
	return out
}

// tailOf is the output that is being written now; nil if there is none. Its file is "" while
// nothing was written.
func (l *live) tailOf(v machine.NodeView) *TailOf {
	k := len(v.Attempts) - 1
	if k < 0 || v.Status != executor.Running {
		return nil
	}
	a := v.Attempts[k]
	out := &TailOf{Step: a.Step, Attempt: a.Number}
	if file := l.outside.files[v.Key]; file != "" {
		turns := turnsOf(l.rec.Events, v.ID, a.Step, a.Number)
		if i := current(turns); i >= 0 && turnOfFile(file) == turns[i].name {
			out.File = l.agents().Redact.String(file)
		}
	}
	return out
}

// changes are those by others, in their current state.
func (l *live) changes() []words.Change {
	return record.ChangesOf(l.rec.Run, l.rec.Key, l.rec.About(), func(list []executor.Drift) []bool {
		return append(slices.Clone(l.outside.undone), make([]bool, len(list))...)[:len(list)]
	})
}

// lookOut looks at what no event tells of, until ctx ends.
func (h *house) lookOut(ctx context.Context) {
	tick := time.NewTicker(lookOutEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, l := range h.all() {
			if l.lookOut() {
				h.tell()
			}
		}
	}
}

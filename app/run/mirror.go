package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
)

// TrackerTime bounds how long apply waits for a tracker: at its start, for decisions that
// people made there, and at its end, for each answer while unsent updates are sent.
const TrackerTime = 30 * time.Second

// runMirror is the mirror of a run in a tracker; nil if the epic has none, or if there is no
// database: its methods do nothing then.
type runMirror struct {
	*bd.Mirror
	tell   func(text string)
	cancel context.CancelFunc
}

// mirror opens the tracker, reads what people did there, and starts mirroring. A tracker
// never fails a run: its errors are reported.
func (r *Opened) mirror(ctx context.Context, tell func(text string)) *runMirror {
	claimed := r.claim() != nil
	if !claimed && (r.Epic.Run.Tracker == nil || record.ClaimOf(r.Space.State(), r.Epic) != nil) {
		return nil // an issue that a worker gave back is not reported
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m, err := r.openMirror(ctx, tell)
	if err != nil {
		cancel()
		tell(fmt.Sprintf("this run is not mirrored into bd: %v", err))
		return nil
	}
	first, done := context.WithTimeout(ctx, TrackerTime)
	defer done()
	if err := m.Look(first); err != nil {
		tell(fmt.Sprintf("bd could not be asked for people's decisions: %v", err))
	}
	m.Start(ctx)
	return &runMirror{m, tell, cancel}
}

func (r *Opened) openMirror(ctx context.Context, tell func(text string)) (*bd.Mirror, error) {
	events, err := record.ReadEvents(ctx, r.Space.State(), r.Epic.Epic.ID)
	if err != nil {
		return nil, err
	}
	times := &record.Chronicle{}
	run, err := machine.Replay(r.Epic, machine.Read(events), times.Add)
	if err != nil {
		return nil, err
	}
	h := record.NewHistorian(project.Detail{}, r.Epic, run, r.Space, times)
	h.Says = true
	state, epic := r.Space.State(), r.Epic.Epic.ID
	out := bd.Outbox{
		Open: func(ctx context.Context) (*bd.Client, error) {
			return bd.Open(ctx, bd.Options{Dir: r.Space.Top(), Actor: bdcodec.Assignee(r.Epic), Mark: filepath.Join(state, "bd")})
		},
		Push: func() func(context.Context, *bd.Client) error {
			past := h.History(ctx) // of now: the call goes on beside the run
			return func(ctx context.Context, c *bd.Client) error {
				_, err := PushEpic(ctx, c, r.Epic, past, tell)
				return err
			}
		},
		Epic: r.Epic, Run: run, State: state, Report: func(format string, args ...any) { tell(fmt.Sprintf(format, args...)) },
		Metadata: func(n *ir.Node) (map[string]json.RawMessage, error) { return metadataOf(ctx, h, n) },
		Applied:  times.Add,
		Send: func(ctx context.Context, l executor.Letter) error {
			if err := journal.Send(ctx, state, epic, l); !errors.Is(err, journal.ErrSent) {
				return err
			}
			return nil
		},
		Answer: func(ctx context.Context, id string) (bool, string, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Millisecond) // one look
			defer cancel()
			refused, err := journal.Await(ctx, state, epic, id)
			if errors.Is(err, context.DeadlineExceeded) {
				return false, "", nil
			}
			return err == nil, refused, err
		},
	}
	if c := r.claim(); c != nil {
		r.claimed(&out, c)
	}
	out.Poll = time.Duration(out.Epic.Run.Tracker.PollMS) * time.Millisecond
	return bd.NewMirror(out)
}

// claim is that of the issue that a worker runs with this epic; nil if none does.
func (r *Opened) claim() *record.Claim {
	c := record.ClaimOf(r.Space.State(), r.Epic)
	if c == nil || c.State != record.ClaimTaken && c.State != record.ClaimWaiting {
		return nil
	}
	return c
}

// metadataOf is what a node's bead keeps: what scrum agents read, and what ralph needs
// to go on elsewhere.
// The epic's keeps where the run began and what the integration branch holds (n nil).
func metadataOf(ctx context.Context, h *record.Historian, n *ir.Node) (map[string]json.RawMessage, error) {
	if n == nil {
		return bd.EpicMetadata(h.Run), nil
	}
	kept := bd.NodeMetadata(h.Run, n.ID)
	if _, lent := n.Ext[bdcodec.Format]; lent { // what else is there is its author's
		return kept, nil
	}
	nodes := map[ir.NodeID]*ir.NodeHistory{}
	if v, ok := h.Run.View(n.ID); ok {
		nodes[n.ID] = h.View(ctx, v)
	}
	out, err := bead.Metadata(h.Epic, n, &ir.History{Top: h.Space.Top(), Nodes: nodes})
	if err != nil {
		return nil, err
	}
	maps.Copy(out, kept)
	return out, nil
}

func (m *runMirror) observe(list []executor.Event) {
	if m != nil {
		m.Observe(list)
	}
}

// close sends the rest as long as the tracker answers and without an interrupt,
// and says what remains, and what stays otherwise in the tracker.
func (m *runMirror) close(interrupts <-chan os.Signal) (lines []string) {
	if m == nil {
		return nil
	}
	defer m.cancel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		tick := time.NewTicker(TrackerTime)
		defer tick.Stop()
		for heard := int64(-1); m.Heard() != heard; {
			heard = m.Heard()
			select {
			case <-ctx.Done():
				return
			case <-interrupts:
				return
			case <-tick.C:
			}
		}
	}()
	unsent, err := m.Close(ctx)
	if err != nil {
		lines = append(lines, fmt.Sprintf("the record of writes to bd cannot be stored: %v", err))
	}
	lines = append(lines, words.UnsentLines(unsent)...)
	if told, err := bd.ReadTold(m.State); err == nil {
		lines = append(lines, words.LeftLines(told.Left)...)
	}
	return lines
}

// TrackerEnv is the environment of agents and gates where a tracker is used: read access
// to bd, and an author name there whose decisions do not count.
func TrackerEnv(epic *ir.Epic, worker bool) map[string]string {
	if epic.Run.Tracker == nil && !worker {
		return nil
	}
	return map[string]string{"BD_READONLY": "true", "BD_NON_INTERACTIVE": "1", "BEADS_ACTOR": bd.AgentActor}
}

package bd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// PushOptions configure a push.
type PushOptions struct {
	History  *ir.History       // what has happened to it; nil: nothing
	Progress func(text string) // told what is written, one line each; may be nil
}

// Pushed is the result of a push.
type Pushed struct {
	Epic     string   // its bead
	Beads    int      // the epic has in bd, its own included
	Created  int      // new beads
	Anew     bool     // the epic is another one than was pushed before
	Changed  int      // beads that were there and were written
	Edges    int      // that were added, those between an epic and its nodes not counted
	Cut      int      // edges that were removed
	Closed   []string // beads whose node is gone from the plan, and were closed
	Reopened []string // those that are back in the plan
	Types    []string // issue types that were registered in types.custom
	Notes    []string // what was left as it is, and why; one line each
	Calls    int      // of bd
}

// Nothing reports whether bd already had everything.
func (p *Pushed) Nothing() bool {
	return p.Created+p.Changed+p.Edges+p.Cut+len(p.Closed)+len(p.Reopened)+len(p.Types) == 0
}

// Occupied says that ids of an epic belong to beads that are not of this epic.
// Nothing was written.
type Occupied struct {
	Epic  string
	Beads []Issue
}

func (o *Occupied) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s to other beads; nothing was written:", text.Form(len(o.Beads), "an id of epic "+o.Epic+" belongs", fmt.Sprintf("%d ids of epic %s belong", len(o.Beads), o.Epic)))
	const most = 10
	for i, x := range o.Beads {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(o.Beads)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s %q", x.ID, x.Title)
		for _, l := range x.Labels {
			if id, ok := strings.CutPrefix(l, codec.EpicLabel); ok {
				fmt.Fprintf(&b, " (of epic %s)", id)
			}
		}
	}
	b.WriteString("\n  Give the sprints other ids in the plan (delete their annotations and compile again), or move the beads elsewhere.")
	return b.String()
}

// rounds bounds how often a push looks again because beads changed under it.
const rounds = 3

// Push writes an epic into the database: the epic's bead, its nodes' beads, their
// edges. It is idempotent: if bd has everything it only reads, in one call. It may be
// interrupted anywhere; the next push continues. People's changes in bd stay; where the
// plan has changed the same value since the last push, bd's is kept and reported. Beads
// of others are never written: Occupied is returned before any write.
func Push(ctx context.Context, c *Client, e *ir.Epic, o PushOptions) (*Pushed, error) {
	p := &push{c: c, say: o.Progress, out: &Pushed{Epic: string(e.Epic.ID)}, gc: e.Run.Tracker != nil && e.Run.Tracker.GC, lent: lentBy(e), draft: e.Plans() != ""}
	if p.say == nil {
		p.say = func(string) {}
	}
	before := c.called()
	var err error
	if p.now, err = codec.Rows(e, o.History); err != nil {
		return nil, err
	}
	nothing := &ir.History{}
	if o.History != nil {
		nothing.Top = o.History.Top
	}
	if p.plan, err = codec.Rows(e, nothing); err != nil {
		return nil, err
	}
	for round := 1; ; round++ {
		again, err := p.round(ctx)
		if err == nil && again && round == rounds {
			err = fmt.Errorf("beads of epic %s are being changed by somebody else; push again when that is over", e.Epic.ID)
		}
		if err != nil || !again {
			p.out.Calls = c.called() - before
			return p.out, err
		}
	}
}

// push is the state of one Push.
type push struct {
	c    *Client
	say  func(string)
	gc   bool
	plan []codec.Row // as the plan has them
	now  []codec.Row // the same as they are
	out  *Pushed

	lent  map[string]time.Time // beads that were imported, by id
	draft bool                 // the epic has a plan written: its ids are all of one kind
}

// read returns the beads that carry the epic's label, in one call.
func (p *push) read(ctx context.Context) (map[string]Issue, error) {
	list, err := p.c.whole(ctx, limitFor(len(p.plan), 0), "list", "--all", "--limit", "0", "--include-gates", "-l", codec.EpicLabel+p.out.Epic)
	return byID(list), err
}

// round reads, compares and writes once; again says that another writer was faster.
func (p *push) round(ctx context.Context) (again bool, err error) {
	there, err := p.read(ctx)
	if err != nil {
		return false, err
	}
	d := p.compare(there)
	p.out.Beads = len(p.plan)
	if d.empty() {
		return false, nil
	}
	if len(d.news) > 0 {
		adopted, err := p.vacant(ctx, d.news)
		if err != nil {
			return false, err
		}
		if len(adopted) > 0 {
			maps.Copy(there, adopted)
			d = p.compare(there)
		}
	}
	if len(d.news) > 0 {
		if d.news[0] == 0 {
			if err := p.prefix(ctx); err != nil {
				return false, err
			}
		}
		if err := p.types(ctx); err != nil {
			return false, err
		}
		if err := p.create(ctx, d); err != nil {
			return false, err
		}
	}
	if err := p.batch(ctx, d); err != nil {
		return false, err
	}
	if again, err = p.change(ctx, d); err != nil {
		return false, err
	}
	if p.gc && len(d.news)+len(d.changes) > bulkFrom {
		p.say("collecting garbage: bd gc")
		if err := p.c.ask(ctx, limitFor(len(p.plan), 0), nil, "gc", "--skip-decay", "--force"); err != nil {
			return false, err
		}
	}
	return again, nil
}

// limitFor is the time that a call may take: bd walks the graph for every edge, and
// waits without limit for writers.
func limitFor(beads, edges int) time.Duration {
	return quick + time.Duration(beads)*100*time.Millisecond + time.Duration(edges)*500*time.Millisecond
}

// vacant makes sure that the ids of new beads are free. Beads of this very epic
// that lost its label are returned: they are not new.
func (p *push) vacant(ctx context.Context, news []int) (map[string]Issue, error) {
	const atOnce = 400 // ids in one command line
	mine, taken := map[string]Issue{}, []Issue{}
	for some := range slices.Chunk(news, atOnce) {
		asked := lists.Map(some, func(i int) string { return p.plan[i].ID })
		list, err := p.c.whole(ctx, quick, "list", "--all", "--limit", "0", "--include-gates", "--id", strings.Join(asked, ","))
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			if m := markerOf(i); m != nil && m.Epic == p.out.Epic || p.lends(i) {
				mine[i.ID] = i
			} else {
				taken = append(taken, i)
			}
		}
	}
	if len(taken) > 0 {
		return nil, &Occupied{p.out.Epic, taken}
	}
	return mine, nil
}

// prefix compares the database's prefix with that of the epic's ids.
func (p *push) prefix(ctx context.Context) error {
	if p.draft {
		return nil
	}
	theirs, err := p.c.Config(ctx, "issue_prefix")
	if err != nil || theirs == "" || strings.HasPrefix(p.out.Epic, theirs+"-") {
		return err
	}
	p.note("the id of the epic is %s, those of this database begin with %q: bd accepts it; for ids of the same kind write prefix = %q into tracker \"bd\" { … } before ids are in the plan", p.out.Epic, theirs+"-", theirs)
	return nil
}

// types registers ralph's issue types beside those that the database has.
func (p *push) types(ctx context.Context) error {
	missing, have, err := MissingTypes(ctx, p.c)
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := p.c.SetConfig(ctx, typesKey, strings.Join(append(have, missing...), ",")); err != nil {
		return err
	}
	p.out.Types = missing
	p.say("registered the issue types " + strings.Join(missing, " and ") + " in bd's setting " + typesKey)
	return nil
}

const typesKey = "types.custom"

// MissingTypes returns which of ralph's issue types a database lacks, and which other
// types it has.
func MissingTypes(ctx context.Context, c *Client) (missing, have []string, err error) {
	v, err := c.Config(ctx, typesKey)
	if err != nil {
		return nil, nil, err
	}
	for t := range strings.SplitSeq(v, ",") {
		if t = strings.TrimSpace(t); t != "" {
			have = append(have, t)
		}
	}
	missing = slices.DeleteFunc(slices.Clone(codec.Types), func(t string) bool { return slices.Contains(have, t) })
	return missing, have, nil
}

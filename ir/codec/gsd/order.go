package gsd

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// order turns waves, depends_on and the order of phases into edges, and says what is
// finished. GSD carries out phase after phase, and in a phase wave after wave.
func (d *decoding) order() {
	phases := d.sorted()
	for _, ph := range phases {
		slices.SortFunc(ph.plans, func(a, b *plan) int { return compareNumbers(a.number, b.number) })
		d.list = append(d.list, ph.plans...)
	}
	for _, p := range d.list {
		p.titles()
		d.done(p)
	}
	for _, p := range d.list {
		d.needs(p)
	}
	for _, ph := range phases {
		d.waves(ph)
	}
	for _, p := range d.list { // the ends of a phase are known after its waves
		for _, x := range p.phases {
			for _, end := range d.phases[x.text].ends() {
				p.edge(end, x.at)
			}
		}
	}
	for i, ph := range phases {
		before := d.waitsFor(ph, phases[:i])
		for _, p := range ph.plans {
			if len(p.after) > 0 {
				continue
			}
			for _, b := range before {
				p.edge(b, p.node.Range)
			}
		}
	}
	for _, p := range d.list {
		d.people(p)
	}
	d.unplanned()
}

func (p *plan) edge(to *plan, at diag.Range) {
	if p.edges[to] {
		return
	}
	p.edges[to] = true
	p.node.Edges = append(p.node.Edges, ir.DraftEdge{Key: to.last(), From: "import", Type: ir.Blocks, Range: at})
}

// done marks a plan as finished if the roadmap says so, of itself or of its phase.
func (d *decoding) done(p *plan) {
	n := &p.node
	line := p.phase.outlined[p.number]
	switch {
	case n.Done:
	case line.ticked:
		n.Done, n.DoneBy, n.DoneRange = true, "status", line.at
	case p.phase.done:
		n.Done, n.DoneBy, n.DoneRange = true, "phase", p.phase.doneAt
		if line.open {
			d.diags.Add(diag.Newf("gsd-done", line.at, "plan %s is open, its phase is finished", n.Key).
				WithDetail("The roadmap says that phase %s is finished, so this plan does not run, though its box is open and it has no SUMMARY.md. To run it, open the box of the phase; else tick this one.", p.phase.id).
				WithRelated(p.phase.doneAt, "the phase is finished here"))
		}
	}
}

// needs finds the plans that depends_on names.
func (d *decoding) needs(p *plan) {
	for _, x := range p.needs {
		text := strings.Trim(x.text, "\"'`[]")
		if i := strings.LastIndexByte(text, '/'); i >= 0 {
			text = text[i+1:]
		}
		text = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(text, ".md"), "-PLAN"), "-SUMMARY")
		switch strings.ToLower(text) {
		case "", "none", "nothing", "null":
			continue
		}
		ph, num, ok := d.target(p, text)
		if !ok {
			d.prose(x.text, x.at, "nothing waits for it. Write the number of a plan, such as \"01-02\"")
			continue
		}
		d.need(p, x, ph, num)
	}
}

// target is the plan that a dependency names, or the phase, with "" as plan.
func (d *decoding) target(p *plan, text string) (ph, num string, ok bool) {
	called := d.calledPhase(text)
	if called != "" && called != p.phase.id {
		return called, "", true
	}
	if m := pairForm.FindStringSubmatch(text); m != nil {
		return number(m[1]), number(m[2]), true
	}
	if m := longForm.FindStringSubmatch(text); m != nil && called == "" && d.plans[number(m[1])+"-"+number(m[2])] != nil {
		return number(m[1]), number(m[2]), true // 01-foundation-02
	}
	if m := plainForm.FindStringSubmatch(text); m != nil {
		num = number(m[1])
		own := d.plans[p.phase.id+"-"+num]
		phase := len(p.phase.plans) == 1 && p.number == p.phase.id && own == nil // 01-PLAN.md: phases have one plan each
		if strings.ContainsRune(text, '-') {                                     // 01-foundation
			phase = own == nil || !own.fileCalled(text) && p.phase.id != quick && p.phase.id != num
		}
		if phase {
			return num, "", true
		}
		return p.phase.id, num, true
	}
	if m := phaseForm.FindStringSubmatch(text); m != nil {
		return number(m[1]), "", true
	}
	return "", "", false
}

// calledPhase is the number of the phase whose directory or whose plans' front matter
// has this name; "" if none does.
func (d *decoding) calledPhase(name string) string {
	ph := phaseNumber(name)
	known := d.phases[ph]
	if known == nil || !strings.ContainsRune(name, '-') {
		return ""
	}
	for _, p := range known.plans {
		if strings.EqualFold(p.phaseText, name) || strings.EqualFold(path.Base(path.Dir(p.file.Name)), name) {
			return ph
		}
	}
	return ""
}

// fileCalled reports whether a plan's file has a name, as in 01-tiles-PLAN.md.
func (p *plan) fileCalled(name string) bool {
	return strings.EqualFold(path.Base(p.file.Name), name+"-PLAN.md")
}

// need adds the edges to a plan, or to the ends of a phase.
func (d *decoding) need(p *plan, x need, ph, num string) {
	known := d.phases[ph]
	to := d.plans[ph+"-"+num]
	switch {
	case to == p:
		d.diags.Add(diag.Newf("self-dependency", x.at, "%s waits for itself", p.node.Key).
			WithDetail("A plan that depends on itself can never start. Remove the dependency."))
	case to != nil:
		p.edge(to, x.at)
		if to.phase == p.phase {
			p.after = append(p.after, to)
			if !p.waveAt.IsZero() && to.wave >= p.wave {
				d.diags.Add(diag.Newf("gsd-wave", p.waveAt, "plan %s has wave %d and waits for wave %d", p.node.Key, p.wave, to.wave).
					WithDetail("It depends on %s and starts after it, whatever the waves say. Write wave: %d.", to.node.Key, to.wave+1).
					WithRelated(x.at, "the dependency"))
			}
		}
	case known == nil || len(known.plans) == 0: // done long ago and put away, or not imported
		d.diags.Add(diag.Newf("gsd-outside", x.at, "%s is not among the files", short(x.text)).
			WithDetail("No plan of that phase is, so its work is taken to be in the base. Import all of .planning if it is not."))
	case num == "" && ph != p.phase.id:
		p.phases = append(p.phases, need{text: ph, at: x.at})
	default:
		d.diags.Add(diag.Newf("unknown-dependency", x.at, "there is no plan %s", short(x.text)).
			WithDetail("Phase %s has the plans %s. Name one of them, or take it out.", ph, keys(known.plans)))
	}
}

func keys(plans []*plan) string {
	out := lists.Map(plans, func(p *plan) string { return string(p.node.Key) })
	return text.Some(out, 10)
}

// waves lets the plans of a wave that name no plan of their phase wait for all of the
// wave before.
func (d *decoding) waves(ph *phase) {
	byWave := map[int][]*plan{}
	for _, p := range ph.plans {
		if !p.waveAt.IsZero() {
			byWave[p.wave] = append(byWave[p.wave], p)
		}
	}
	var before []*plan
	for _, w := range slices.Sorted(maps.Keys(byWave)) {
		for _, p := range byWave[w] {
			if len(p.after) > 0 {
				continue
			}
			for _, b := range before {
				p.edge(b, p.waveAt)
				p.after = append(p.after, b)
			}
		}
		before = byWave[w]
	}
}

// ends are the plans of a phase that no other one of it waits for.
func (ph *phase) ends() []*plan {
	waited := map[*plan]bool{}
	for _, p := range ph.plans {
		for _, a := range p.after {
			waited[a] = true
		}
	}
	out := lists.Keep(ph.plans, func(p *plan) bool { return !waited[p] })
	if len(out) == 0 {
		return ph.plans // a cycle, which the compiler reports
	}
	return out
}

// waitsFor are the plans that the beginnings of a phase wait for: the ends of the phases
// that the roadmap names, else of the one before it. A phase without plans hands on what
// it waits for.
func (d *decoding) waitsFor(ph *phase, before []*phase) []*plan {
	switch {
	case ph.free:
		return nil
	case len(ph.after) == 0:
		if len(before) == 0 || ph.id == quick {
			return nil
		}
		return before[len(before)-1].ends()
	}
	var out []*plan
	seen := map[*phase]bool{ph: true}
	var add func(list []need)
	add = func(list []need) {
		for _, x := range list {
			for _, on := range d.named(x) {
				switch {
				case seen[on]:
				case len(on.plans) > 0:
					seen[on] = true
					out = append(out, on.ends()...)
				default:
					seen[on] = true
					add(on.after)
				}
			}
		}
	}
	add(ph.after)
	return out
}

// named are the phases that a phase says it waits for; an inserted one, 2.5, is in 1-3.
func (d *decoding) named(x need) []*phase {
	on := d.phases[x.text]
	switch {
	case on == nil:
		d.diags.Add(diag.Newf("gsd-outside", x.at, "phase %s is not among the files", x.text).
			WithDetail("The roadmap has no such phase, so its work is taken to be in the base. Correct the number if it is a mistake."))
		return nil
	case x.to == "":
		return []*phase{on}
	}
	return lists.Keep(d.sorted(), func(ph *phase) bool {
		return compareNumbers(x.text, ph.id) <= 0 && compareNumbers(ph.id, x.to) <= 0
	})
}

// people says which plans wait for a person.
func (d *decoding) people(p *plan) {
	n := &p.node
	if n.Done {
		return
	}
	say := func(at diag.Range, format string, args ...any) {
		d.diags.Add(diag.Newf("gsd-person", at, "plan %s needs a person", n.Key).WithDetail(format, args...))
	}
	switch {
	case n.Kind == ir.Manual:
		say(cmp.Or(p.asks, p.looks), "A person does all of its tasks: say ralph approve %s when they are done.", n.Key)
	case len(p.checks) > 0:
		say(p.looks, "Somebody looks at the result when the plan is done, not in its middle. What follows waits until it is approved: ralph approve %s.", p.last())
	}
	if !p.asks.IsZero() && n.Kind != ir.Manual {
		say(p.asks, "The agent asks, and goes on when there is an answer: ralph retry %s -m \"the answer\".", n.Key)
	}
	if !p.setup.IsZero() {
		say(p.setup, "Its user_setup is told to the agent, who cannot do it. Do it before the plan runs.")
	}
}

// unplanned names the phases of the roadmap that are left and have no plan file.
func (d *decoding) unplanned() {
	var left []*phase
	for _, ph := range d.phases {
		if len(ph.plans) == 0 && !ph.done && !ph.at.IsZero() {
			left = append(left, ph)
		}
		if len(ph.plans) == 0 || ph.done {
			continue
		}
		var missing []string
		first := outline{}
		for _, num := range slices.SortedFunc(maps.Keys(ph.outlined), compareNumbers) {
			if line := ph.outlined[num]; line.open && d.plans[ph.id+"-"+num] == nil {
				if len(missing) == 0 {
					first = line
				}
				missing = append(missing, padded(ph.id)+"-"+padded(num))
			}
		}
		if len(missing) > 0 {
			d.diags.Add(diag.Newf("gsd-unplanned", first.at, "phase %s has %s without a file", ph.id, text.Count(len(missing), "plan")).
				WithDetail("The roadmap lists %s, and no imported file has that number: nothing of it runs. Write the plans with GSD, or remove the lines from the roadmap.", text.Some(missing, 10)))
		}
	}
	if len(left) == 0 || len(d.list) == 0 {
		return
	}
	slices.SortFunc(left, func(a, b *phase) int { return compareNumbers(a.id, b.id) })
	names := lists.Map(left, func(ph *phase) string { return ph.id })
	d.diags.Add(diag.Newf("gsd-unplanned", left[0].at, "the roadmap has %s without plans", text.Count(len(left), "phase")).
		WithDetail("Nothing of phase %s is in the epic. Plan it with GSD and import again.", text.Some(names, 10)))
}

// next is the number after a whole one.
func next(s string) string {
	n, err := strconv.Atoi(s)
	if err != nil {
		return s
	}
	return strconv.Itoa(n + 1)
}

// prose reports a dependency that names neither a plan nor a phase.
func (d *decoding) prose(text string, at diag.Range, instead string) {
	d.diags.Add(diag.Newf("gsd-prose", at, "“%s” names no plan", short(text)).WithDetail("It is text: %s.", instead))
}

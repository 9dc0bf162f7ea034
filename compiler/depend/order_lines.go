package depend

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// lines reads a list of groups: "- **Storage (Phase 2)**: Depends on Phase 1".
func (o *orderReader) lines(order *syntax.Order) {
	type saying struct {
		v       int32
		at      diag.Range
		targets []target
	}
	var read []saying
	var stray, plain *syntax.OrderLine
	for _, line := range lists.Each(order.Lines) {
		us, clash := o.known.unitsNamed(line.Name.Value)
		v := orderValue{o: o, line: line}
		v.read()
		switch {
		case line.Plain:
			if v.ok && len(us) > 0 && plain == nil {
				plain = line
			}
			continue
		case len(us) == 0 && !clash:
			if v.ok && len(v.targets) > 0 && stray == nil {
				stray = line
			}
			continue
		case clash:
			o.unread(line.Name.Range, false, "%q names one group by its title and another by its number", clip(line.Name.Value))
			return
		case !v.ok && line.Aside && !v.begun:
			continue
		}
		if o.known.work += len(us) * size(v.targets); o.known.work > maxOrderWork {
			o.unread(line.Name.Range, false, "the lists name too many groups")
			return
		}
		for _, u := range us {
			targets, itself := without(o, o.known.vertex(u), v.targets)
			if !v.ok || itself && len(targets) == 0 && len(us) == 1 {
				o.unread(line.Name.Range, false, "what is said of %q is not understood (a line says \"No dependencies\", \"Independent\", or \"Depends on\", \"Can start after\", \"After\" and then phases, user stories or ids%s)", clip(line.Name.Value), otherWord(line.Value.Value))
				return
			}
			if !itself || len(targets) > 0 {
				read = append(read, saying{o.known.vertex(u), line.Name.Range, targets})
			}
		}
	}
	if len(read) == 0 {
		if order.Named > 0 {
			o.diags.Add(syntax.ProseNotRead(order.Range))
		}
		return
	}
	for _, s := range read {
		o.say(s.v, s.at, s.targets)
	}
	o.strayLines(plain, stray)
}

// strayLines hints at lines of a list that is read, which make no edge.
func (o *orderReader) strayLines(plain, stray *syntax.OrderLine) {
	if plain != nil {
		o.diags.Add(diag.New("graph-not-read", plain.Name.Range, "the line is not read").
			WithDetail("It reads like the lines around it, but its name is not bold or has no colon, so it makes no edge. Write \"**%s**: Depends on …\".", clip(plain.Name.Value)))
	}
	if stray != nil {
		o.diags.Add(diag.New("graph-not-read", stray.Name.Range, "the line names no group").
			WithDetail("%q is neither the title nor the number of a group of this plan, so the line makes no edge. Write it as the heading does, or \"Phase 2\".", clip(stray.Name.Value)))
	}
}

// maxOrderWork bounds what labels, lists and drawings cost that name many groups in few words.
const maxOrderWork = 2_000_000

func size(targets []target) (n int) {
	for _, t := range targets {
		n += 1 + len(t.groups)
	}
	return n
}

// without returns what a vertex is said to wait for without itself.
func without(o *orderReader, v int32, targets []target) (out []target, itself bool) {
	for _, t := range targets {
		switch {
		case t.kind == toItem && t.item == v:
			itself = true
			continue
		case t.kind == toGroupEnds && slices.Contains(t.groups, v-int32(len(o.Items))):
			itself = true
			t.groups = slices.DeleteFunc(slices.Clone(t.groups), func(g int32) bool { return g == v-int32(len(o.Items)) })
			if len(t.groups) == 0 {
				continue
			}
		}
		out = append(out, t)
	}
	return out, itself
}

// orderValue reads what a line says of its group.
type orderValue struct {
	o       *orderReader
	line    *syntax.OrderLine
	begun   bool // it begins with one of the words below
	ok      bool
	targets []target
}

// orderWords begin a statement.
var orderWords = []struct {
	text string
	none bool
}{
	{"no dependencies", true},
	{"no dependency", true},
	{"independent", true},
	{"all depend on", false},
	{"depends on", false},
	{"depend on", false},
	{"can start after", false},
	{"after", false},
}

// read takes the statements of a value: the first, and those after a dash, a
// full stop or a semicolon; other text there is a reason.
func (v *orderValue) read() {
	raw := strings.NewReplacer("\n", " ", "\r", " ").Replace(v.line.Value.Value)
	text := v.o.known.marked.mask(raw)
	for k, sp := range sentences(text) {
		w, none, found := orderWord(text[sp.Start:sp.End])
		switch {
		case !found && k == 0:
			return
		case !found:
			continue
		}
		v.begun = true
		rest := trim(text, Span{sp.Start + w, sp.End})
		if none {
			low := " " + strings.ToLower(text[rest.Start:rest.End]) + " "
			if strings.Contains(low, "depend") || strings.Contains(low, "after ") {
				return // "Independent of US2, depends only on US1"
			}
			if k == 0 && (strings.Contains(low, " but ") || strings.Contains(low, " except ")) {
				return // "No dependency on Phase 1 for 2.1, but 2.2 needs it"
			}
			continue
		}
		if !v.names(raw, text, rest) {
			return
		}
	}
	v.ok = v.begun
}

// orderWord returns the length of the words that a statement begins with.
func orderWord(s string) (n int, none, found bool) {
	for _, w := range orderWords {
		if len(s) >= len(w.text) && strings.EqualFold(s[:len(w.text)], w.text) && (len(s) == len(w.text) || !letter(s[len(w.text)]) && s[len(w.text)] < 0x80) {
			return len(w.text), w.none, true
		}
	}
	return 0, false, false
}

// sentences cuts a masked value at dashes between spaces, full stops before
// spaces, and semicolons.
func sentences(s string) (out []Span) {
	return cutAt(s, func(i int) int {
		if s[i] == ';' || s[i] == '.' && i+1 < len(s) && s[i+1] == ' ' {
			return 1
		}
		for _, d := range []string{"--", "-", "–", "—"} {
			if n := len(d); strings.HasPrefix(s[i:], d) && i > 0 && s[i-1] == ' ' && i+n < len(s) && s[i+n] == ' ' && !betweenNumbers(s, i, i+n) {
				return n
			}
		}
		return 0
	})
}

// betweenNumbers reports whether a dash makes a range: "Phases 3 - 5".
func betweenNumbers(s string, i, j int) bool {
	return i > 1 && digit(s[i-2]) && j+1 < len(s) && digit(s[j+1])
}

// otherWord suggests the wording for other words that people begin such a line with.
func otherWord(value string) string {
	for _, w := range []string{"requires", "builds on", "starts after", "start after", "needs", "follows", "blocked by"} {
		if n := len(w); len(value) > n && strings.EqualFold(value[:n], w) && !letter(value[n]) {
			return "; for \"" + value[:n] + "\" write \"Depends on\""
		}
	}
	return ""
}

// reasonWords begin a reason after a comma: "after Phase 2, because tags are exported".
var reasonWords = []string{"because", "since", "as", "so", "for", "to", "which"}

// names reads what follows "Depends on"; false if a part of it names
// nothing.
func (v *orderValue) names(raw, text string, sp Span) bool {
	var scratch diag.List
	p := valueParser{Names: v.o.known.Names, raw: raw[sp.Start:sp.End], text: text[sp.Start:sp.End], at: v.line.Value.Range.Sub(sp.Start, sp.End), diags: &scratch}
	if sp.Start >= sp.End {
		return false
	}
	if SaysNone(p.text) {
		return true
	}
	reason := false
	for k, part := range split(p.text) {
		if w, _ := word(p.text, part); k > 0 && isWord(w, reasonWords) {
			reason = true
			continue
		}
		before := p.out
		if p.part(part) && !p.out.wrong {
			if reason { // it may belong to the reason
				return false
			}
			continue
		}
		p.out = before
		us := v.o.known.waited(p.text[part.Start:part.End])
		switch {
		case reason && len(us) == 0:
			continue
		case reason || len(us) == 0:
			return false
		}
		for _, u := range us {
			p.add(v.o.target(v.o.known.vertex(u), diag.Range{}), part)
		}
	}
	// Who waits for the ends of a group waits for all of it, complete or not.
	for _, t := range p.out.targets {
		if t.kind == toGroup {
			t.kind = toGroupEnds
		}
		v.targets = append(v.targets, t)
	}
	return len(p.out.targets) > 0
}

// waited returns the groups that a part of a value names, with the words that may
// surround them: "the Storage phase completion", "all desired user stories being
// complete".
func (o *orderNames) waited(s string) []int32 {
	fs := strings.Fields(s)
	for len(fs) > 1 && isWord(fs[len(fs)-1], doneWords, auxiliaries, []string{"being"}) {
		fs = fs[:len(fs)-1]
	}
	for len(fs) > 1 && isWord(fs[0], []string{"the", "both"}) {
		fs = fs[1:]
	}
	if len(fs) > 1 && isWord(fs[0], []string{"all", "every"}) {
		for fs = fs[1:]; len(fs) > 1 && isWord(fs[0], []string{"of", "the", "desired"}); {
			fs = fs[1:]
		}
		if s := strings.ToLower(strings.Join(fs, " ")); s != "user stories" && s != "user story" {
			return nil
		}
		return o.told
	}
	return o.named(strings.Join(fs, " "))
}

func isWord(w string, lists ...[]string) bool {
	return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, strings.ToLower(w)) })
}

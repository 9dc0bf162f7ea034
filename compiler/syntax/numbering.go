package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
)

// numbering checks what can be said about ids without knowing what waits for
// what: their spelling, gaps, order, markers.
func (p *parser) numbering() {
	p.spelling()
	if p.item.sprintLike {
		p.gaps()
		for i := range p.plan.Items {
			it := &p.plan.Items[i]
			if it.Parallel && it.ID != "" && !isLetter(it.ID[len(it.ID)-1]) {
				p.report(diag.Newf("parallel-without-letter", it.ParallelMark, "%s is marked parallel but has no letter", clip(it.ID, 20)).WithDetail(
					"What runs in parallel is said by letters: %[1]sa and %[1]sb run side by side. The marker alone changes nothing. Add a letter to the id, or delete the marker.", it.ID))
			}
		}
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// spelling reports ids that only look right, and mends them in the tree.
func (p *parser) spelling() {
	noted := 0
	var note diag.Diagnostic
	for i := range p.cands {
		c := &p.cands[i]
		if c.prose || c.struck {
			continue
		}
		switch c.key.look {
		case foldedID:
			p.report(diag.Newf("look-alike-id", p.keyRange(c), "the id %s is not written in ASCII", quoted(c.in.Value[c.keyAt.start:c.keyAt.end])).WithDetail(
				"%s Write %s.", codePoints(c.in.Value[c.keyAt.start:c.keyAt.end]), c.key.id).WithFix(p.keyRange(c), c.key.id))
		case caseID:
			if !p.dialect.IgnoreCase {
				p.report(diag.Newf("id-case", p.keyRange(c), "an id has a capital letter").WithDetail(
					"Letters of an id are lower-case. Write %s.", c.key.id).WithFix(p.keyRange(c), c.key.id))
				continue
			}
			if noted++; noted == 1 {
				note = diag.New("id-case-ignored", p.keyRange(c), "capital letters in ids are read as small ones").WithDetail(
					"The dialect %s ignores the case of ids: this is %s. Nothing needs to be done.", p.dialect.Name, c.key.id)
			} else if noted < maxRelated {
				note = note.WithRelated(p.keyRange(c), "read as %s", c.key.id)
			}
		}
	}
	if noted > 0 {
		p.report(note)
	}
	seen := make(map[string]*Item, len(p.plan.Items))
	for i := range p.plan.Items {
		it := &p.plan.Items[i]
		plain := p.plainNumber(it.ID, it.KeyRange, p.item.sprintLike)
		if first := seen[plain]; first != nil {
			p.report(diag.Newf("similar-ids", it.KeyRange, "%s and %s are hard to tell apart", clip(first.ID, 20), clip(it.ID, 20)).WithDetail(
				"They differ only by case or by zeros in front. Give one of them another id, or write both as %s if they are the same.", plain).
				WithRelated(first.KeyRange, "the other one"))
			continue
		}
		seen[plain] = it
		if p.item.sprintLike {
			it.ID = plain
		}
	}
	for i := range p.plan.Phases {
		if ph := &p.plan.Phases[i]; !ph.Implicit && p.phase.sprintLike && p.item.sprintLike {
			ph.ID = p.plainNumber(ph.ID, ph.IDRange, true)
		} else if ph.Implicit && p.item.sprintLike {
			ph.ID, _ = simplify(ph.ID)
		}
	}
}

// plainNumber writes an id in lower case and without zeros in front of numbers.
// Where strict, such zeros are reported.
func (p *parser) plainNumber(id string, at diag.Range, strict bool) string {
	plain, tooLarge := simplify(id)
	if tooLarge {
		p.report(diag.New("number-too-large", at, "a number in an id is too large").WithDetail(
			"The largest number is %d. Write a smaller one.", maxNumber))
	}
	if strict && plain != id && plain == strings.ToLower(plain) {
		p.report(diag.Newf("zero-padded-id", at, "%s has a zero in front of a number", clip(id, 24)).WithDetail(
			"Numbers are compared as numbers, so zeros are not needed, and %s would be another spelling of %s. Write %s.", id, plain, plain).WithFix(at, plain))
	}
	return plain
}

// maxNumber is the largest number in an id.
const maxNumber = 1<<31 - 1

func simplify(id string) (plain string, tooLarge bool) {
	simple := true
	for i := 0; i < len(id) && simple; i++ {
		c := id[i]
		digit := c >= '0' && c <= '9'
		start := i == 0 || id[i-1] < '0' || id[i-1] > '9'
		simple = !(c >= 'A' && c <= 'Z') && !(digit && start && i+1 < len(id) && id[i+1] >= '0' && id[i+1] <= '9' && (c == '0' || len(id) > 9))
	}
	if simple {
		return id, false
	}
	var b strings.Builder
	for i := 0; i < len(id); {
		j := i
		for j < len(id) && id[j] >= '0' && id[j] <= '9' {
			j++
		}
		if j == i {
			_, n := utf8.DecodeRuneInString(id[i:])
			b.WriteString(strings.ToLower(id[i : i+n]))
			i += n
			continue
		}
		num := strings.TrimLeft(id[i:j], "0")
		if num == "" {
			num = "0"
		}
		if n, err := strconv.ParseUint(num, 10, 64); err != nil || n > maxNumber {
			tooLarge = true
		}
		b.WriteString(num)
		i = j
	}
	return b.String(), tooLarge
}

// codePoints names the characters of an id that are not ASCII.
func codePoints(s string) string {
	var parts []string
	for _, r := range s {
		if r >= utf8.RuneSelf && len(parts) < 4 {
			if a := foldID(string(r)); isASCII(a) {
				parts = append(parts, fmt.Sprintf("%q is U+%04X, not %q", r, r, a[0]))
				continue
			}
			parts = append(parts, fmt.Sprintf("%q is U+%04X", r, r))
		}
	}
	return strings.Join(parts, "; ") + "."
}

// gaps warns of missing numbers and hints at items that stand in another order
// than their numbers. Phases are checked in the same way.
func (p *parser) gaps() {
	plan := p.plan
	var phases []numbered
	for i := range plan.Phases {
		ph := &plan.Phases[i]
		var items []numbered
		for _, k := range ph.Items {
			it := &plan.Items[k]
			_, number, _ := strings.Cut(it.ID, ".")
			items = append(items, numbered{leadingNumber(number), it.ID, it.KeyRange})
		}
		p.gapsIn(items, clip(ph.ID, 20)+".")
		if !ph.Implicit || len(plan.Phases) > 1 {
			phases = append(phases, numbered{leadingNumber(ph.ID), ph.ID, ph.IDRange})
		}
	}
	p.gapsIn(phases, "phase ")
}

type numbered struct {
	n  int
	id string
	at diag.Range
}

func leadingNumber(s string) int {
	n := 0
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9' && n < maxNumber; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return min(n, maxNumber)
}

func (p *parser) gapsIn(list []numbered, prefix string) {
	if len(list) == 0 {
		return
	}
	have := make(map[int]bool, len(list))
	for _, x := range list {
		have[x.n] = true
	}
	last := list[0]
	hinted := false
	for _, x := range list[1:] {
		if x.n < last.n && !hinted {
			hinted = true
			p.report(diag.Newf("number-order", x.at, "%s stands behind %s", clip(x.id, 20), clip(last.id, 20)).WithDetail(
				"The numbers decide the order, not the place in the file. Move it up if that confuses readers.").WithRelated(last.at, "a larger number above it"))
		}
		last = x
	}
	low := list[0].n
	for _, x := range list {
		low = min(low, x.n)
	}
	for i, x := range list {
		if x.n == low || have[x.n-1] || i > 0 && have[x.n] && list[i-1].n == x.n {
			continue
		}
		from := x.n - 1
		for from > low && !have[from-1] && x.n-from < 1000 {
			from--
		}
		missing := prefix + digits(x.n-1)
		if from < x.n-1 {
			missing = prefix + digits(from) + " to " + prefix + digits(x.n-1)
		}
		p.report(diag.Newf("number-gap", x.at, "no %s before %s", missing, clip(x.id, 20)).WithDetail(
			"Numbers are missing here; the order of the others stays as it is. Renumber, or leave it if the gap is meant."))
	}
}

package syntax

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
)

// numbering writes ids in one form and reports group ids that only look right.
// What is wrong with the ids of items is said by package compiler, which sees
// them together.
func (p *parser) numbering() {
	if !p.item.sprintLike {
		return
	}
	for i := range p.plan.Items {
		p.plan.Items[i].ID, _ = simplify(p.plan.Items[i].ID)
	}
	for i := range p.plan.Phases {
		ph := &p.plan.Phases[i]
		if !ph.Implicit && p.phase.sprintLike {
			p.phaseSpelling(ph)
		}
		ph.ID, _ = simplify(ph.ID)
	}
}

// phaseSpelling reports a phase id that is not written plainly: in ASCII, lower
// case, without zeros in front.
func (p *parser) phaseSpelling(ph *Phase) {
	written := p.file.Text(ph.IDRange)
	plain, tooLarge := simplify(ph.ID)
	if tooLarge {
		p.report(diag.New("number-too-large", ph.IDRange, "the number of a phase is too large").WithDetail(
			"Numbers of phases go up to %d. Write a smaller one.", maxNumber))
		return
	}
	if written == plain || p.dialect.IgnoreCase && strings.EqualFold(written, plain) {
		return
	}
	why := "Its number has a zero in front, and numbers are compared as numbers."
	switch {
	case !isASCII(written):
		why = codePoints(written)
	case strings.ToLower(written) != written:
		why = "Letters of an id are lower case."
	}
	p.report(diag.Newf("look-alike-id", ph.IDRange, "the phase id %s is not written plainly", quoted(written)).
		WithDetail("%s Write %s.", why, plain).WithFix(ph.IDRange, plain))
}

// maxNumber is the largest number in an id.
const maxNumber = 1<<31 - 1

// simplify writes an id in lower case and without zeros in front of numbers.
func simplify(id string) (plain string, tooLarge bool) {
	if isSimple(id) {
		return id, false
	}
	var b strings.Builder
	for i := 0; i < len(id); {
		j := len(id) - len(strings.TrimLeft(id[i:], decimals))
		if j == i {
			_, n := utf8.DecodeRuneInString(id[i:])
			b.WriteString(strings.ToLower(id[i : i+n]))
			i += n
			continue
		}
		num := cmp.Or(strings.TrimLeft(id[i:j], "0"), "0")
		if n, err := strconv.ParseUint(num, 10, 64); err != nil || n > maxNumber {
			tooLarge = true
		}
		b.WriteString(num)
		i = j
	}
	return b.String(), tooLarge
}

// isSimple reports whether an id surely is in its plain form.
func isSimple(id string) bool {
	if len(id) > 9 {
		return false
	}
	for i := 0; i < len(id); i++ {
		zero := id[i] == '0' && i+1 < len(id) && id[i+1] >= '0' && id[i+1] <= '9' && (i == 0 || id[i-1] < '0' || id[i-1] > '9')
		if zero || id[i] >= 'A' && id[i] <= 'Z' || id[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// codePoints names the characters of an id that are not ASCII.
func codePoints(s string) string {
	var parts []string
	for _, r := range s {
		if r >= utf8.RuneSelf && len(parts) < 4 {
			if a := FoldID(string(r)); isASCII(a) {
				parts = append(parts, fmt.Sprintf("%q is U+%04X, not %q", r, r, a[0]))
				continue
			}
			parts = append(parts, fmt.Sprintf("%q is U+%04X", r, r))
		}
	}
	return strings.Join(parts, "; ") + "."
}

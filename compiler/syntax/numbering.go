package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// numbering writes ids in one form and reports group ids that only look right.
// What is wrong with the ids of items is said by package compiler, which sees
// them together.
func (p *parser) numbering() {
	if !p.item.sprintLike {
		return
	}
	for i := range p.plan.Items {
		p.plan.Items[i].ID = simplify(p.plan.Items[i].ID)
	}
	for _, ph := range lists.Each(p.plan.Phases) {
		if !ph.Implicit && p.phase.sprintLike {
			p.phaseSpelling(ph)
		}
		ph.ID = simplify(ph.ID)
	}
}

// phaseSpelling reports a phase id that is not written plainly: in ASCII, lower
// case, without zeros in front.
func (p *parser) phaseSpelling(ph *Phase) {
	written := p.file.Text(ph.IDRange)
	plain := simplify(ph.ID)
	if len(plain) > 9 && hasTooLarge(plain) {
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

// hasTooLarge reports whether a number in an id is larger.
func hasTooLarge(id string) bool {
	numbers := strings.FieldsFunc(id, func(r rune) bool { return !strings.ContainsRune(decimals, r) })
	return slices.ContainsFunc(numbers, func(s string) bool {
		n, err := strconv.ParseUint(s, 10, 64)
		return err != nil || n > maxNumber
	})
}

// simplify writes an id in lower case and without zeros in front of numbers.
func simplify(id string) string { return strings.ToLower(Unpadded(id)) }

// Unpadded removes leading zeros from an id's numbers.
func Unpadded(id string) string {
	for i := 0; ; i++ {
		if i+1 >= len(id) {
			return id
		}
		if id[i] == '0' && isDigit(id[i+1]) && (i == 0 || !isDigit(id[i-1])) {
			break
		}
	}
	out := make([]byte, 0, len(id))
	for i := 0; i < len(id); i++ {
		if i == 0 || !isDigit(id[i-1]) {
			for i+1 < len(id) && id[i] == '0' && isDigit(id[i+1]) {
				i++
			}
		}
		out = append(out, id[i])
	}
	return string(out)
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

package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// Fences and comments that a typing mistake keeps from being policy, the schema
// of a gate, a directive or an annotation: nobody would see that they are not.

// infoWords returns the words of a fence's info string, in lower case.
func (p *parser) infoWords(b *block) []string {
	if b.info < 0 {
		return nil
	}
	return strings.FieldsFunc(strings.ToLower(p.src[b.info:lineEnd(p.src, int(b.info))]), func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\r' || r == ',' || r == '{' || r == '}'
	})
}

// nearFence reports an info string that nearly is one that ralph reads.
func (p *parser) nearFence(b *block) {
	what := map[string]string{policyMark: "policy", schemaMark: "the schema of a gate"}
	if mark := p.nearControl(b); mark != "" {
		p.report(diag.Newf("near-miss-fence", p.file.Range(int(b.start), lineEnd(p.src, int(b.start))), "the fence nearly is %s", what[mark]).WithDetail(
			"As it is marked it would only be read by people, and what it says would be left out. Write %s behind the characters that open it, or no mark if it is a quotation.", mark))
	}
}

const (
	policyMark = "hcl ralph"
	schemaMark = "json output=NAME"
)

// nearControl returns the mark that a fence's info string nearly is, or "".
func (p *parser) nearControl(b *block) string {
	words := p.infoWords(b)
	if len(words) == 0 || len(words[0]) > longestNear || p.isPolicy(b) {
		return ""
	}
	near := func(w, meant string) bool { return len(w) <= longestNear && spell.OneEdit(asASCII(w), meant) }
	first := strings.Join(words[:min(2, len(words))], " ")
	if near(words[0], policyMark) || near(first, policyMark) || first == "ralph hcl" ||
		words[0] == "hcl" && slices.ContainsFunc(words[1:], func(w string) bool { return near(w, "ralph") || w != "ralph" && asASCII(w) == "ralph" }) {
		return policyMark
	}
	for _, w := range words[1:] {
		key, _, ok := strings.Cut(w, "=")
		if ok && (words[0] == "json" && (near(key, "output") || key != "output" && asASCII(key) == "output") || near(words[0], "json") && key == "output") {
			return schemaMark
		}
	}
	return ""
}

// shell reports whether a fence below Verify is a command, and says so if it
// nearly is one, or another language.
func (p *parser) shell(f *Fence, label string) bool {
	switch {
	case f.Lang == "sh", f.Lang == "bash":
		p.checkVerifyFence(f)
		return true
	case f.Lang != "" && (spell.OneEdit(f.Lang, "sh") && f.Lang[0] == 's' || spell.OneEdit(f.Lang, "bash") && f.Lang[0] == 'b'), f.Lang == "hs":
		p.report(diag.Newf("near-miss-fence", f.Open, "%s is nearly sh or bash", quoted(f.Lang)).WithDetail(
			"This fence stands below %s, and a misspelt language makes no command of it. Write ```sh or ```bash; if it is to be read by people only, move it out of the label.", label))
	default:
		p.report(diag.New("verify-fence", f.Open, "only sh and bash fences are checks").WithDetail(
			"This fence stands below %s but is read as prose: no command is run from it. Write ```sh if it is a command.", label))
	}
	return false
}

// nearComment reports a comment that nearly is a directive or an annotation.
func (p *parser) nearComment(c span, body string) {
	rest := strings.TrimLeft(body, "!#@")
	n := strings.IndexFunc(rest, func(r rune) bool {
		return r == ':' || r == '：' || r == ' ' || r == '=' || r == ';' || r == '\n' || r == '\t'
	})
	if n <= 0 || n > longestNear {
		return
	}
	word, rest := strings.ToLower(asASCII(rest[:n])), strings.TrimLeft(rest[n:], " \t\r\n:：;=")
	is := func(mark string) bool {
		return word == mark || word != "" && word[0] == mark[0] && spell.OneEdit(word, mark)
	}
	report := func(write string) {
		p.report(diag.Newf("near-miss-directive", p.rng(c), "a comment nearly is %s", write).WithDetail(
			"Comments that ralph does not know are left out, and this one would be. Write <!-- %s … -->, in small letters and with a colon, or reword the comment.", write))
	}
	if fields := strings.Fields(rest); len(fields) == 1 && isNodeID(fields[0]) {
		for _, mark := range []string{nodeMark, epicMark} {
			if is(strings.TrimSuffix(mark, ":")) {
				report(mark)
				return
			}
		}
	}
	if !is(strings.TrimSuffix(directiveMark, ":")) {
		return
	}
	for _, f := range strings.Fields(rest) {
		if key, _, ok := strings.Cut(f, "="); ok {
			if _, _, known := lookupNear(key); known {
				report(directiveMark)
				return
			}
		}
	}
}

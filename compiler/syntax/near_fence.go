package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// Fences and comments that a typing mistake keeps from being policy, the schema
// of a gate, a directive or an annotation: otherwise unnoticed.

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
		p.report(diag.Newf("near-miss-fence", p.file.Range(int(b.start), lineEnd(p.src, int(b.start))), "the fence is almost %s", what[mark]).WithDetail(
			"With this info string it is prose, and what it says has no effect. Write %s after the opening characters, or nothing if it is a quotation.", mark))
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
	near := func(w, meant string) bool {
		w = strings.TrimSpace(asASCII(w))
		return w == meant || len(w) <= longestNear && spell.OneEdit(w, meant)
	}
	for n := range min(3, len(words)) {
		if first := strings.Join(words[:n+1], " "); near(first, policyMark) || first == "ralph hcl" {
			return policyMark
		}
	}
	if words[0] == "hcl" && slices.ContainsFunc(words[1:], func(w string) bool { return near(w, "ralph") }) {
		return policyMark
	}
	before, _, ok := strings.Cut(strings.Join(words, " "), "=")
	if ok && before != "json output" && near(before, "json output") {
		return schemaMark
	}
	for _, w := range words[1:] {
		if key, _, ok := strings.Cut(w, "="); ok && words[0] == "json" && key != "output" && near(key, "output") {
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
		if strings.TrimSpace(f.Content) == "" {
			p.report(diag.New("verify-fence", f.Open, "a fence without a command checks nothing").WithDetail(
				"This fence is below %s and is empty: no command is run from it. Write the command into it, or delete the fence.", label))
		}
		return true
	case shellLike(f.Lang):
		p.report(diag.Newf("near-miss-fence", f.Open, "%s is almost sh or bash", quoted(f.Lang)).WithDetail(
			"This fence is below %s, and with a misspelt language it is not a command. Write ```sh or ```bash; if it is not a command, move it out of the label.", label))
	default:
		p.report(diag.New("verify-fence", f.Open, "only sh and bash fences are checks").WithDetail(
			"This fence is below %s but is read as prose: no command is run from it. Write ```sh if it is a command.", label))
	}
	return false
}

// shellLike reports whether a language is sh or bash, or nearly.
func shellLike(lang string) bool {
	return lang == "sh" || lang == "bash" || lang == "hs" ||
		lang != "" && (spell.OneEdit(lang, "sh") && lang[0] == 's' || spell.OneEdit(lang, "bash") && lang[0] == 'b')
}

// nearComment reports a comment that nearly is a directive or an annotation.
func (p *parser) nearComment(c span, body string) {
	if len(body) > maxNearComment {
		return
	}
	near := func(w, mark string) bool {
		w = strings.ToLower(strings.Trim(asASCII(w), " \t\r\n:;"))
		mark = strings.TrimSuffix(mark, ":")
		return w == mark || len(w) <= longestNear && spell.OneEdit(w, mark)
	}
	report := func(write string) {
		p.report(diag.Newf("near-miss-directive", p.rng(c), "a comment is almost %s", write).WithDetail(
			"ralph ignores other comments, so this one has no effect. Write <!-- %s … -->, in small letters and with a colon, or reword the comment.", write))
	}
	body = strings.TrimRight(body, " \t\r\n")
	id := strings.LastIndexAny(body, " \t\n:") + 1
	for _, mark := range []string{nodeMark, epicMark} {
		if isNodeID(body[id:]) && near(body[:id], mark) {
			report(mark)
			return
		}
	}
	key := func(to int) int { return strings.LastIndexAny(body[:to], " \t\r\n:;,") + 1 }
	eq := strings.IndexByte(body, '=')
	if eq < 0 || !near(body[:key(eq)], directiveMark) {
		return
	}
	for tries := 0; eq < len(body) && tries < maxNearKeys; eq++ {
		if body[eq] != '=' {
			continue
		}
		tries++
		if _, _, known := lookupNear(body[key(eq):eq]); known {
			report(directiveMark)
			return
		}
	}
}

// Bounds of the comments that are looked at: in bytes, and how many keys.
const (
	maxNearComment = 1024
	maxNearKeys    = 16
)

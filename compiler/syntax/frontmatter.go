package syntax

import (
	"errors"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// maxFrontMatter bounds front matter, in bytes.
const maxFrontMatter = 64 << 10

var frontMatterKeys = []string{
	"base", "dialect", "id", "integration", "labels", "owner", "policies", "policy", "ralph", "title",
}

// frontMatter reads the YAML at the start of the plan and returns the offset of
// the markdown after it. A first line --- without a closing one, or with
// ordinary text between them, is markdown.
func (p *parser) frontMatter() int {
	at := afterBOM(p.file.Bytes)
	first := strings.TrimRight(p.src[at:lineEnd(p.src, at)], " \t")
	if first != "---" {
		if below := p.aboveFrontMatter(at); below >= 0 {
			p.lostFrontMatter(below, at)
		}
		return at
	}
	body := nextLine(p.src, at)
	limit := min(len(p.src), body+maxFrontMatter)
	end, after := -1, 0
	for line, stop := range p.lines(body, limit) {
		if text := strings.TrimRight(p.src[line:stop], " \t"); text == "---" || text == "..." {
			end, after = line, nextLine(p.src, line)
			break
		}
	}
	switch {
	case end >= 0:
	case limit < len(p.src) && looksLikeYAML(p.src[body:limit]) && strings.Contains(p.src[limit:], "\n---"):
		p.warn(diag.Newf("front-matter-syntax", p.file.Range(at, at+len(first)), "the front matter is longer than %d KiB", maxFrontMatter>>10).WithDetail(
			"It is read as markdown and has no effect. Make it shorter; if it is not front matter, begin the plan with another line."),
			ownFrontMatter(p.src[body:limit]))
	default:
		p.lostFrontMatter(at, at)
	}
	if end < 0 || !looksLikeYAML(p.src[body:end]) {
		return at
	}
	fm := &p.plan.FrontMatter
	fm.Range = p.file.Range(at, after)
	text := p.src[body:end]
	mine := strings.HasPrefix(text, "ralph:") || strings.Contains(text, "\nralph:")
	root, err := yaml.Parse([]byte(text))
	if err != nil {
		p.badYAML(err, body, mine)
		return after
	}
	if root.Kind == yaml.Mapping {
		fieldReader{p, body, mine}.fields(root)
	}
	return after
}

// ownFrontMatter reports whether a line of a text is one that ralph reads: what begins
// with a rule and continues as text has no such line.
func ownFrontMatter(s string) bool {
	return slices.ContainsFunc([]string{"ralph:", "dialect:", "todos:"}, func(key string) bool {
		return strings.HasPrefix(s, key) || strings.Contains(s, "\n"+key)
	})
}

// looksLikeYAML reports whether the first line that says something is "key:".
func looksLikeYAML(s string) bool {
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		key, _, ok := strings.Cut(line, ":")
		return ok && key != "" && !strings.ContainsAny(key, " \t*`[]<>|")
	}
	return true
}

func (p *parser) badYAML(err error, body int, mine bool) {
	at := body
	var syntax *yaml.SyntaxError
	message := err.Error()
	if errors.As(err, &syntax) {
		message = syntax.Message
		for n := 1; n < syntax.Line && nextLine(p.src, at) < len(p.src); n++ {
			at = nextLine(p.src, at)
		}
	}
	how := "Correct the line"
	if strings.Contains(message, "mapping values are not allowed") {
		how = "A value with a colon and a space needs quotes: write key: \"one: two\""
	}
	if d := p.listedBy(p.src[body:p.plan.FrontMatter.Range.End]); d == "" {
		how += ", or delete the front matter"
	} else {
		p.plan.Instead = "Its items are in the front matter: once that is valid YAML, the dialect " + d + " reads them."
		how += ". The items of the dialect " + d + " are in it"
	}
	p.warn(diag.New("front-matter-syntax", p.file.Range(at, lineEnd(p.src, at)), "the front matter is not valid YAML").WithDetail(
		"%s. %s.", strings.TrimSuffix(clip(message, 200), "."), how), mine)
}

// fieldReader reads the fields of front matter.
type fieldReader struct {
	*parser
	body int  // where the YAML begins
	mine bool // it says that it is ralph's: what is wrong is an error
}

// warn reports what is an error only in front matter of ralph's own.
func (p *parser) warn(d diag.Diagnostic, mine bool) {
	if !mine {
		d.Severity = diag.Warning
	}
	p.report(d)
}

func (r fieldReader) fields(root *yaml.Node) {
	fm := &r.plan.FrontMatter
	scalars := map[string]*Stated{
		"ralph": &fm.Ralph, "id": &fm.ID, "title": &fm.Title, "policy": &fm.Policy, "base": &fm.Base,
		"integration": &fm.Integration, "owner": &fm.Owner, "dialect": &fm.Dialect,
	}
	var foreign []*yaml.Node
	first := map[string]*yaml.Node{}
	for i, k := range root.Keys {
		if before := first[k.Value]; before != nil {
			r.warn(diag.Newf("front-matter-value", r.nodeRange(k, r.body), "%s appears twice", quoted(k.Value)).WithDetail(
				"Only one of the two can count. Delete one.").WithRelated(r.nodeRange(before, r.body), "the first"),
				r.mine || slices.Contains(frontMatterKeys, k.Value))
			continue
		}
		first[k.Value] = k
		v := root.Values[i]
		switch listed := r.dialect.In == InFrontMatter; {
		case scalars[k.Value] != nil:
			*scalars[k.Value] = r.scalar(k, v)
		case k.Value == "labels":
			fm.Labels = r.list(k, v)
		case k.Value == "policies":
			fm.PoliciesSet = true
			fm.Policies = r.list(k, v)
		case listed && slices.Contains(r.dialect.Item.Keywords, k.Value):
			r.entries(k, v, r.body)
		case listed && k.Value == "name" && !fm.Title.Set():
			fm.Title = r.scalar(k, v)
		default:
			foreign = append(foreign, k)
		}
	}
	if fm.Ralph.Set() && fm.Ralph.Value != "1" {
		r.report(diag.New("front-matter-value", fm.Ralph.Range, "ralph: is the version of the plan language").WithDetail(
			"This version of ralph reads version 1. Write ralph: 1."))
	}
	r.foreignKeys(foreign, r.body, r.mine)
}

// foreignKeys reports keys that mean nothing: each as an error in front matter
// that says it is ralph's, else all in one note.
func (p *parser) foreignKeys(keys []*yaml.Node, body int, mine bool) {
	if !mine {
		if keys = p.nearKeys(keys, body); len(keys) > 0 {
			p.report(diag.Newf("foreign-front-matter", p.nodeRange(keys[0], body), "%s of other tools ignored", text.Count(len(keys), "key")).WithDetail("%s", p.foreignTo(keys)))
		}
		return
	}
	for _, k := range keys {
		d := diag.Newf("unknown-front-matter", p.nodeRange(k, body), "%s is not a key of the front matter", quoted(k.Value))
		if near, ok := nearest(k.Value, frontMatterKeys); ok {
			p.report(d.WithDetail("Did you mean %q?", near).WithFix(p.nodeRange(k, body), near))
			continue
		}
		p.report(d.WithDetail("The keys are %s. Delete this one.", strings.Join(frontMatterKeys, ", ")))
	}
}

// controlKeys are keys whose loss changes who judges, also where nothing else says
// that the front matter is ralph's.
var controlKeys = []string{"ralph", "policy", "policies"}

// nearKeys reports keys that nearly are such, and returns the others.
func (p *parser) nearKeys(keys []*yaml.Node, body int) (foreign []*yaml.Node) {
	for _, k := range keys {
		near, ok := NearMiss(k.Value, controlKeys)
		if !ok {
			near = strings.ToLower(k.Value) // keys are in lower case
			ok = slices.Contains(controlKeys, near)
		}
		if !ok {
			foreign = append(foreign, k)
			continue
		}
		p.report(diag.Newf("unknown-front-matter", p.nodeRange(k, body), "%s is not a key of the front matter", quoted(k.Value)).WithDetail(
			"It looks like a misspelt %q, and would set nothing. Correct it, or give the key of another tool another name.", near).WithFix(p.nodeRange(k, body), near))
	}
	return foreign
}

func (p *parser) nodeRange(n *yaml.Node, body int) diag.Range {
	return p.file.Range(min(body+n.Start, len(p.src)), min(body+max(n.Start, n.End), len(p.src)))
}

// scalar reads a value that is one word or text. null states nothing.
func (r fieldReader) scalar(k, v *yaml.Node) Stated {
	switch v.Kind {
	case yaml.Scalar:
		return Stated{Value: strings.TrimSpace(v.Value), Range: r.nodeRange(v, r.body)}
	case yaml.Null:
	default:
		r.wrong(k, v, "one value")
	}
	return Stated{}
}

// list reads a list of scalars, or one scalar as a list of one.
func (r fieldReader) list(k, v *yaml.Node) (out []Stated) {
	values := []*yaml.Node{v}
	switch v.Kind {
	case yaml.Null:
		return nil
	case yaml.Sequence:
		values = v.Values
	}
	for _, e := range values {
		if e.Kind != yaml.Scalar {
			r.wrong(k, e, "a list of words")
			continue
		}
		out = append(out, Stated{Value: strings.TrimSpace(e.Value), Range: r.nodeRange(e, r.body)})
	}
	return out
}

func (r fieldReader) wrong(k, v *yaml.Node, want string) {
	r.warn(diag.Newf("front-matter-value", r.nodeRange(v, r.body), "%s takes %s", k.Value, want).WithDetail(
		"The key %q of the front matter takes %s. Write it in that form.", k.Value, want), r.mine)
}

package policies

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/diag"
)

// Complexity is the block `complexity "c"`: a level, how it is recognised and
// what it means.
type Complexity struct {
	Decl
	Rank     Value[int]      `hcl:"rank" min:"0" max:"1000" with:"required" doc:"a whole number; of the levels that match, the highest wins"` // the highest rank that matches wins
	Default  Value[bool]     `hcl:"default" doc:"true for the level of a sprint that nothing matches"`                                        // the level of a node that nothing matches
	Keywords Value[[]string] `hcl:"keywords" doc:"whole words or phrases, such as [\"typo\", \"remove unused\"]"`                             // whole words or phrases
	In       Value[[]string] `hcl:"in" enum:"title goal tasks" doc:"where the words are looked for: title, goal, tasks"`                      // where they are looked for: title, goal, tasks (default: title)
	Limits   Limits          `hcl:"limits"`
	Review   Value[string]   `hcl:"review" enum:"auto required skip" doc:"skip, auto or required"`
}

var complexityBlock = &block{
	of:   (*Complexity)(nil),
	name: "complexity", label: "level",
	doc:    "a level of complexity: how it is recognised and what it means",
	attrs:  []attr{descriptionAttr},
	blocks: []*block{limitsBlock},
}

// complexity reads a level; old is the built-in one of that name, nil if there is
// none. What the user's block does not say it takes over: raising a limit must
// not cost the keywords or the review. Limits of old lie below it (BuiltinLimits).
func (r *reader) complexity(old *Complexity) *Complexity {
	c := &Complexity{}
	r.fill(c)
	if old == nil {
		old = &Complexity{
			Keywords: Value[[]string]{V: []string{}}, In: Value[[]string]{V: []string{"title"}}, Review: Value[string]{V: "auto"},
		}
		if c.Review.V == "required" {
			old.In.V = []string{"title", "goal", "tasks"}
		}
	}
	c.Default, c.Keywords = or(c.Default, old.Default.V), or(c.Keywords, old.Keywords.V)
	c.In, c.Review = or(c.In, old.In.V), or(c.Review, old.Review.V)
	if c.Name == critical && c.Review.Set && c.Review.V != "required" {
		r.d.diags.Add(diag.New("policy-invalid-value", c.Review.Range, "critical work is always reviewed").
			WithDetail("The blind review of critical sprints cannot be skipped. Write review = \"required\", change the keywords, or give the level another name."))
		c.Review.V = "required"
	}
	return c
}

// critical is the level whose blind review cannot be skipped.
const critical = "critical"

// BuiltinLimits returns the limits of the built-in level with a name, else those of the
// built-in default level: the base of the user's levels.
func BuiltinLimits(level string) Limits {
	levels := builtin().Complexity
	if c := levels[level]; c != nil {
		return c.Limits
	}
	for _, c := range levels {
		if c.Default.V { // one is
			return c.Limits
		}
	}
	return Limits{}
}

// keywordIndex finds the keywords of all levels in one walk over the words of a
// text.
type keywordIndex struct {
	byFirst map[string][]phrase // by first word, lower case
	def     string              // the level of a node that nothing matches
}

// phrase is a keyword as words.
type phrase struct {
	level  *Complexity
	text   string // as the policy writes it
	words  []string
	inside [3]bool // title, goal, tasks
}

func indexKeywords(levels map[string]*Complexity) *keywordIndex {
	x := &keywordIndex{byFirst: map[string][]phrase{}}
	rank := -1
	for _, name := range sortedKeys(levels) {
		c := levels[name]
		// Of several defaults, a user's counts, then the highest.
		if r := c.Rank.V; c.Default.V {
			if !c.Builtin && c.Default.Set {
				r += 10_000
			}
			if r > rank {
				x.def, rank = name, r
			}
		}
		for _, k := range c.Keywords.V {
			p := phrase{level: c, text: k, words: textWords(k)}
			for i, in := range []string{"title", "goal", "tasks"} {
				p.inside[i] = slices.Contains(c.In.V, in)
			}
			if len(p.words) > 0 {
				x.byFirst[p.words[0]] = append(x.byFirst[p.words[0]], p)
			}
		}
	}
	if x.def == "" && levels["standard"] != nil {
		x.def = "standard"
	}
	return x
}

// MatchComplexity returns the level of a node from its words, and the keyword
// that decided; word is "" when nothing matched. The highest rank wins; of one
// level, the first keyword in the text. Code spans are skipped, keywords are
// whole words, case does not count.
func (s *Set) MatchComplexity(title, goal string, tasks []string) (level, word string) {
	var best *phrase
	look := func(text string, place int) {
		words := textWords(text)
		for i, w := range words {
			for _, p := range s.keywords.byFirst[w] {
				if p.inside[place] && (best == nil || p.level.Rank.V > best.level.Rank.V) &&
					len(p.words) <= len(words)-i && slices.Equal(p.words, words[i:i+len(p.words)]) {
					best = &p
				}
			}
		}
	}
	look(title, 0)
	look(goal, 1)
	for _, t := range tasks {
		look(t, 2)
	}
	if best == nil {
		return s.keywords.def, ""
	}
	return best.level.Name, best.text
}

// textWords returns the words of a text in lower case: runs of letters and digits,
// outside code spans.
func textWords(s string) []string {
	if strings.IndexByte(s, '`') >= 0 {
		s = withoutCode(s)
	}
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) })
}

// withoutCode replaces code spans by a separator. A run of backticks that is
// never closed is text.
func withoutCode(s string) string {
	var out strings.Builder
	open := map[int]bool{} // lengths of runs known not to be closed after here
	for s != "" {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			break
		}
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		out.WriteString(s[:i])
		rest := s[i+n:]
		end := -1
		if !open[n] {
			end = closing(rest, n)
			open[n] = end < 0
		}
		out.WriteString("|")
		if end < 0 {
			s = rest
			continue
		}
		s = rest[end+n:]
	}
	out.WriteString(s)
	return out.String()
}

// closing returns where a run of exactly n backticks begins, or -1.
func closing(s string, n int) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		m := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if m == n {
			return at
		}
		at += m
	}
}

// checkComplexity reports levels that cannot be told apart.
func (s *Set) checkComplexity(d *decoder) {
	byRank := map[int]*Complexity{}
	var def *Complexity
	for _, name := range sortedKeys(s.Complexity) {
		c := s.Complexity[name]
		if first := byRank[c.Rank.V]; first != nil {
			if first.Builtin != c.Builtin || !c.Builtin {
				user, other := c, first
				if c.Builtin {
					user, other = first, c
				}
				d.diags.Add(diag.Newf("complexity-rank", user.Rank.Range, "level %s has the rank of %s", quoted(user.Name), quoted(other.Name)).
					WithDetail("The highest rank wins, so two levels cannot share one. Write another rank.").WithRelated(other.Range, "the other level"))
			}
		}
		byRank[c.Rank.V] = c
		if c.Default.V && c.Default.Set && !c.Builtin {
			if def != nil {
				d.diags.Add(diag.New("policy-two-defaults", c.Default.Range, "two levels are the default").
					WithDetail("One level is that of sprints that nothing matches. Remove default = true from one of them.").WithRelated(def.Range, "the other one"))
			}
			def = c
		}
	}
}

package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/yaml"
)

// gsdKeys are those of the plans of GSD by which one knows them.
var gsdKeys = []string{"depends_on", "wave"}

// foreignTo explains which tool or dialect reads some keys.
func (p *parser) foreignTo(keys []*yaml.Node) string {
	var said []string
	rest := slices.DeleteFunc(slices.Clone(keys), func(k *yaml.Node) bool {
		d := p.listDialect(k.Value)
		if d != "" {
			said = append(said, fmt.Sprintf("The dialect %s reads %s as the items of the plan: write dialect: %[1]s, or --dialect %[1]s, if they are.", d, clip(k.Value, 40)))
		}
		return d != ""
	})
	if slices.ContainsFunc(rest, func(k *yaml.Node) bool { return slices.Contains(gsdKeys, k.Value) }) {
		said = append(said, "A plan of GSD has depends_on and wave; here they have no effect. ralph import --as gsd reads them, with the directory .planning.")
		rest = slices.DeleteFunc(rest, func(k *yaml.Node) bool { return slices.Contains(gsdKeys, k.Value) })
	}
	if len(rest) == 0 {
		return strings.Join(said, " ")
	}
	names := clipped(rest, maxRelated, func(k *yaml.Node) string { return k.Value })
	said = append(said, fmt.Sprintf("The front matter has %s, which ralph ignores. This is fine; with ralph: 1 such keys are errors.", names))
	return strings.Join(said, " ")
}

// listDialect names the dialect whose items are listed below a key of the front matter.
func (p *parser) listDialect(key string) string {
	for _, d := range append([]Dialect{p.dialect}, p.known...) {
		if d.In == InFrontMatter && slices.Contains(d.Item.Keywords, key) {
			return d.Name
		}
	}
	return ""
}

// listedBy does so for front matter that is not YAML.
func (p *parser) listedBy(text string) string {
	for line := range strings.Lines(text) {
		if key, _, ok := strings.Cut(line, ":"); ok && key != "" && key[0] > ' ' {
			if d := p.listDialect(key); d != "" {
				return d
			}
		}
	}
	return ""
}

package policies

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
)

// Sandbox is the block `sandbox "n"`. It is checked and carried as it is written: paths
// are expanded where it is built, Limits are written as numbers.
type Sandbox struct {
	Decl
	Kind     Value[string]            `hcl:"kind" enum:"auto bwrap container landlock namespaces none seatbelt" with:"required" doc:"auto, namespaces, bwrap, landlock or none; container and seatbelt are not built yet"`
	Network  Value[[]string]          `hcl:"network=" doc:"hosts that may be reached, such as [\"model\", \"*.example.com\", \"example.com:8443\"]; \"model\" is what the runner needs, \"*\" any public host, [] none"`
	Cache    Value[[]string]          `hcl:"cache=" doc:"directories of yours that are filled without a change to them, such as [\"~/.npm\"]"`
	Read     Value[[]string]          `hcl:"read=" doc:"absolute paths, or paths that begin with ~/, that may be read"`
	Write    Value[[]string]          `hcl:"write=" doc:"absolute paths, or paths that begin with ~/, that may be written"`
	Hide     Value[[]string]          `hcl:"hide=" doc:"paths below one that read or write names, that are not there"`
	Services Value[[]string]          `hcl:"services=" doc:"servers on this machine that may be reached, such as [\"127.0.0.1:5432\"]"`
	Limits   Value[map[string]string] `hcl:"limits=" doc:"limits by name, as { memory = \"4GB\", cpu = \"200%\", pids = 512, tmp = \"2GB\", file = \"2GB\" }"` // memory, tmp and file in bytes, cpu in percent of one processor
	Nest     Value[bool]              `hcl:"nest=false" doc:"true lets programs inside make sandboxes of their own"`
	Accept   Value[string]            `hcl:"accept" enum:"landlock" doc:"landlock, the least that kind auto may take"`
	Required Value[bool]              `hcl:"required=false" doc:"true keeps ralph apply --sandbox from taking less"`
}

var sandboxBlock = &block{of: (*Sandbox)(nil), name: "sandbox", label: "name", doc: "what agents, gates and setup can reach", attrs: []attr{descriptionAttr}}

// NoSandbox is the name of the built-in sandbox that holds nothing, DefaultSandbox that of
// the user's which holds wherever none is named.
const (
	NoSandbox      = "none"
	DefaultSandbox = "default"
)

func (s *Sandbox) check(r *reader) {
	r.checkHosts(s.Network)
	r.checkEach("services", s.Services, checkService)
	for name, v := range map[string]Value[[]string]{"cache": s.Cache, "read": s.Read, "write": s.Write} {
		r.checkEach(name, v, checkPlace)
	}
	r.checkEach("hide", s.Hide, s.hidden)
	s.Limits.V = r.limits(s)
	switch {
	case s.Name == NoSandbox && s.Kind.Set && s.Kind.V != "none":
		r.wrong("kind", s.Kind.Range, errors.New(`the name "none" means that there is no sandbox; give this one another name`))
	case s.Accept.Set && s.Kind.Set && s.Kind.V != "auto":
		r.wrong("accept", s.Accept.Range, fmt.Errorf(`only kind = "auto" may take less, this is of kind %s; remove the line`, s.Kind.V))
	case len(s.Hide.V) > 0 && (s.Kind.V == "landlock" || s.Accept.Set):
		r.wrong("hide", s.Hide.Range, errors.New("with landlock nothing inside a readable directory can be hidden; name in read only what may be seen"))
	case s.Nest.V && (s.Kind.V == "landlock" || s.Accept.Set):
		r.wrong("nest", s.Nest.Range, errors.New("with landlock programs inside cannot make sandboxes of their own; remove it, or do not take landlock"))
	}
}

// checkEach reports the elements of a list that do not fit, each at its place; the first one
// alone if the list is not written out.
func (r *reader) checkEach(name string, v Value[[]string], fits func(string) error) {
	for i, s := range v.V {
		if err := fits(s); err != nil {
			at := r.element(name, i, v)
			r.wrong(name, at, err)
			if at == v.Range {
				return
			}
		}
	}
}

// element is the place of an element of a list, or of all of it if the list is not
// written out.
func (r *reader) element(name string, i int, v Value[[]string]) diag.Range {
	if list, ok := r.expr(name).(*hclsyntax.TupleConsExpr); ok && len(list.Exprs) == len(v.V) {
		return r.d.rng(list.Exprs[i].Range())
	}
	return v.Range
}

// wrong reports a value of which the error says what to write instead.
func (r *reader) wrong(name string, at diag.Range, err error) {
	r.d.diags.Add(diag.Newf("policy-invalid-value", at, "%q has a wrong value", name).WithDetail("%s", hclSentence(sentence(err.Error()))))
}

// checkPlace refuses what is neither an absolute path nor one in the home directory.
func checkPlace(p string) error {
	rest, inHome := strings.CutPrefix(p, "~/")
	switch {
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%s has a control character; remove it", quoted(p))
	case p == "/" || p == "~" || p == "~/":
		return fmt.Errorf("%s is everything; name what is needed below it", quoted(p))
	case strings.HasPrefix(p, "$HOME/"):
		return fmt.Errorf("%s is not expanded; write %s", quoted(p), quoted("~/"+strings.TrimPrefix(p, "$HOME/")))
	case !inHome && strings.HasPrefix(p, "~"):
		return fmt.Errorf("%s is the home directory of another; write an absolute path, or one that begins with ~/", quoted(p))
	case !inHome && !strings.HasPrefix(p, "/"):
		return fmt.Errorf("%s is relative, and the sprint's worktree is there anyway; write an absolute path, or one that begins with ~/", quoted(p))
	}
	if !inHome {
		rest = p[1:]
	}
	if clean := strings.TrimPrefix(path.Clean("/"+rest), "/"); clean != strings.TrimSuffix(rest, "/") {
		return fmt.Errorf("%s takes a roundabout way; write it without \".\", \"..\" and double slashes", quoted(p))
	}
	if strings.ContainsAny(p, "*?[") {
		return fmt.Errorf("%s is a pattern; name a file or directory", quoted(p))
	}
	return nil
}

// hidden refuses to hide what is no place, and what read and write do not show, or name themselves.
func (s *Sandbox) hidden(p string) error {
	if err := checkPlace(p); err != nil {
		return err
	}
	for _, shown := range slices.Concat(s.Read.V, s.Write.V) {
		shown = strings.TrimSuffix(shown, "/")
		if strings.TrimSuffix(p, "/") == shown {
			return fmt.Errorf("%s is named by read or write; take it out there instead", quoted(p))
		}
		if strings.HasPrefix(p, shown+"/") {
			return nil
		}
	}
	return fmt.Errorf("%s is in nothing that read or write names, so it is not there anyway; remove it", quoted(p))
}

// limitNames are the limits of a sandbox. An image is that of a container.
var limitNames = []string{"cpu", "file", "image", "memory", "pids", "tmp"}

// limits returns the limits with their values as numbers, without those that are wrong.
func (r *reader) limits(s *Sandbox) map[string]string {
	out := map[string]string{}
	for _, name := range sortedKeys(s.Limits.V) {
		if err := oneOf(name, limitNames); err != nil {
			r.wrong("limits", r.entry("limits", name, s.Limits.Range), fmt.Errorf("the limit %w", err))
			continue
		}
		v, err := limit(name, s.Limits.V[name], s.Kind.V)
		if err != nil {
			r.wrong("limits", r.entry("limits", name, s.Limits.Range), fmt.Errorf("the limit %s cannot be %s: %w", name, quoted(s.Limits.V[name]), err))
			continue
		}
		out[name] = v
	}
	return out
}

// entry is the place of an entry of an object, or of all of it if it is not written out.
func (r *reader) entry(attr, key string, whole diag.Range) diag.Range {
	if object, ok := r.expr(attr).(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range object.Items {
			if k, diags := item.KeyExpr.Value(nil); !diags.HasErrors() && k.Type() == cty.String && k.IsKnown() && !k.IsNull() && k.AsString() == key {
				return r.d.rng(item.KeyExpr.Range())
			}
		}
	}
	return whole
}

// leastSize is the smallest size of a limit: less is a number that lacks its unit.
const leastSize = 1_000_000

func limit(name, text, kind string) (string, error) {
	switch name {
	case "image":
		if kind != "container" || strings.TrimSpace(text) == "" {
			return "", errors.New("an image is what a sandbox of kind container is made of, and only that")
		}
		return text, nil
	case "cpu":
		share, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
		n, err := strconv.Atoi(strings.TrimSpace(share))
		if !ok || err != nil || n < 1 || n > 100_000 {
			return "", errors.New(`it is a share of one processor, such as "50%", or "200%" for two`)
		}
		return strconv.Itoa(n), nil
	case "pids":
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > 4_194_304 {
			return "", errors.New("it is a number of processes and threads, from 1 to 4194304, such as 512")
		}
		return strconv.Itoa(n), nil
	}
	n, err := parseSize(text)
	if err == nil && n < leastSize {
		err = fmt.Errorf(`%d bytes are too few; write a number with a unit, such as "2GB"`, n)
	}
	return strconv.FormatInt(n, 10), err
}

package workspace

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// Bounds of what is read.
const (
	maxLoose  = 200_000  // loose refs
	maxPacked = 64 << 20 // bytes of packed-refs
	maxRef    = 4 << 10  // bytes of a loose ref
)

// refs reads all refs. Loose ones are read first: git packs a ref before it
// takes the loose one away, so that none is missed that is there.
func (w *watch) refs() map[string]string {
	common := w.s.git.common
	w.readAt = time.Now()
	out := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(common, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") || len(out) > maxLoose {
			return nil //nolint:nilerr // it went while we looked
		}
		rel, err := filepath.Rel(common, path)
		if err != nil {
			return nil //nolint:nilerr // it lies below
		}
		if text := w.files.text(path, maxRef); text != "" {
			out[filepath.ToSlash(rel)] = oneLine(text, maxValue)
		}
		return nil
	})
	for ref, oid := range w.packed(filepath.Join(common, "packed-refs")) {
		if _, loose := out[ref]; !loose {
			out[ref] = oid
		}
	}
	for ref := range out { // of the main worktree alone: a rebase, a bisection
		if strings.HasPrefix(ref, "refs/bisect/") || strings.HasPrefix(ref, "refs/rewritten/") || strings.HasPrefix(ref, "refs/worktree/") {
			delete(out, ref)
		}
	}
	return out
}

// packed reads packed-refs, once for each state of the file.
func (w *watch) packed(path string) map[string]string {
	got := w.files.parse(path, maxPacked, func(b []byte) any {
		refs := map[string]string{}
		in := bufio.NewScanner(bytes.NewReader(b))
		for in.Scan() {
			if oid, ref, ok := strings.Cut(in.Text(), " "); ok && isOid(oid) {
				refs[ref] = oid
			}
		}
		return refs
	})
	refs, _ := got.(map[string]string)
	return refs
}

// thing says what kind of ref it is, of an own one whose it is.
func (w *watch) thing(ref string) (t executor.Thing, node ir.NodeID, branch bool) {
	if rest, ok := strings.CutPrefix(ref, w.s.prefix()); ok {
		if rest == "target" { // fetched
			return "", "", false
		}
		if id, ok := strings.CutPrefix(rest, "nodes/"); ok {
			id, _, _ = strings.Cut(id, "/")
			return executor.ThingOwn, ir.NodeID(id), false
		}
		return executor.ThingOwn, "", false
	}
	if w.s.branches[ref] {
		return executor.ThingOwn, w.branchOf[ref], true
	}
	for _, top := range []string{"refs/heads/", "refs/tags/"} {
		if name, ok := strings.CutPrefix(ref, top); ok && !strings.HasPrefix(name, "ralph/") {
			return executor.ThingForeign, "", false
		}
	}
	if name, ok := strings.CutPrefix(ref, "refs/remotes/"); ok { // what a push of ralph's left
		if _, b, _ := strings.Cut(name, "/"); w.s.branches["refs/heads/"+b] {
			return "", "", false
		}
	}
	return executor.ThingOther, "", false
}

// keepOthers is now, with what is compared only at the end as it was.
func keepOthers(w *watch, was, now map[string]string) map[string]string {
	for ref := range now {
		if t, _, _ := w.thing(ref); t == executor.ThingOther && was[ref] == "" {
			delete(now, ref)
		}
	}
	for ref, at := range was {
		if t, _, _ := w.thing(ref); t == executor.ThingOther {
			now[ref] = at
		}
	}
	return now
}

func (w *watch) refSighting(ref, was, is string) executor.Sighting {
	s := executor.Sighting{Forward: w.forward(was, is), Drift: executor.Drift{What: ref, Was: was, Is: is, Back: setRef(ref, was)}}
	s.Thing, s.Node, s.Branch = w.thing(ref)
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && isOid(is) {
		s.Back = keepRef("branch", name, ref, is) + " && " + s.Back
	} else if name, ok := strings.CutPrefix(ref, "refs/tags/"); ok && isOid(is) {
		s.Back = keepRef("tag", name, ref, is) + " && " + s.Back
	}
	return s
}

// setRef is the command that puts a ref somewhere; "" takes it away. It never moves
// what a symbolic one leads to.
func setRef(ref, at string) string {
	if to, symbolic := strings.CutPrefix(at, "ref: "); symbolic {
		return "git symbolic-ref " + shellword.Quote(ref) + " " + shellword.Quote(to)
	}
	if at == "" {
		return "git update-ref --no-deref -d " + shellword.Quote(ref)
	}
	return "git update-ref --no-deref " + shellword.Quote(ref) + " " + shellword.Quote(at)
}

// compareRefs returns which refs others have moved since. What looks lost is looked
// at once more: refs move while they are read.
func (w *watch) compareRefs(before, now map[string]string, all bool) []executor.Sighting {
	var out, gone []executor.Sighting
	groups := map[string][]executor.Drift{}
	var again map[string]string
	begun := w.readAt // what was read again is newer
	for _, ref := range union(before, now) {
		was, is := before[ref], now[ref]
		if was == is && !w.moved[ref] {
			continue
		}
		thing, _, _ := w.thing(ref)
		switch {
		case thing == "" || thing == executor.ThingOther && !all || ref == stashRef: // the stash is compared with the checkout
			continue
		case thing == executor.ThingOther:
			groups[groupOf(ref)] = append(groups[groupOf(ref)], executor.Drift{What: ref, Was: was, Is: is})
			continue
		case thing == executor.ThingOwn && w.own.put(ref, is, begun):
			out = w.over(out, ref, is)
			continue
		case was == is:
			continue
		}
		if at := w.own.stands(ref); thing == executor.ThingOwn && at != "" { // since the last look
			was = at
		}
		s := w.refSighting(ref, was, is)
		if !s.Forward || thing == executor.ThingOwn {
			if again == nil {
				again = w.refs()
			}
			if is = again[ref]; is == "" {
				delete(now, ref)
			} else {
				now[ref] = is
			}
			if is == was {
				continue
			}
			if thing == executor.ThingOwn && w.own.put(ref, is, begun) {
				out = w.over(out, ref, is)
				continue
			}
			s = w.refSighting(ref, was, is)
		}
		switch {
		case thing == executor.ThingForeign && !s.Forward:
			gone = append(gone, s)
			continue
		case thing == executor.ThingOwn:
			w.moved[ref] = true
		}
		out = append(out, s)
	}
	out = append(out, lists.Map(sortedKeys(groups), func(name string) executor.Sighting { return w.group(name, groups[name]) })...)
	return append(w.few(gone), out...)
}

// over adds that ralph has put a ref where it belongs, if others had moved it before.
func (w *watch) over(out []executor.Sighting, ref, is string) []executor.Sighting {
	if !w.moved[ref] {
		return out
	}
	delete(w.moved, ref)
	s := w.refSighting(ref, is, is)
	s.Over = true
	return append(out, s)
}

// mostRefs is how many refs are named one by one.
const mostRefs = 40

// few makes one sighting of the refs beyond mostRefs.
func (w *watch) few(list []executor.Sighting) []executor.Sighting {
	if len(list) <= mostRefs {
		return list
	}
	rest := lists.Map(list[mostRefs:], func(s executor.Sighting) executor.Drift { return s.Drift })
	file, digest := w.keepRefs(rest)
	return append(list[:mostRefs:mostRefs], executor.Sighting{Thing: executor.ThingSetting, Drift: executor.Drift{
		What: fmt.Sprintf("%d more branches and tags (refs-%s)", len(rest), digest), Was: executor.AsBefore, Is: summary(rest), Back: putBack(file),
	}})
}

// group makes one sighting of refs that are only noticed.
func (w *watch) group(name string, list []executor.Drift) executor.Sighting {
	s := executor.Sighting{Thing: executor.ThingOther, Drift: executor.Drift{What: name, Was: executor.AsBefore, Is: summary(list)}}
	if strings.HasPrefix(name, "refs/ralph/") || strings.Contains(name, "/ralph/") { // the other epic knows where they belong
		return s
	}
	// What was made or moved is left: it may be the user's, and nowhere else.
	s.Look = "git for-each-ref " + shellword.Quote(name)
	if gone := slices.DeleteFunc(slices.Clone(list), func(c executor.Drift) bool { return c.Is != "" }); len(gone) > 0 {
		file, _ := w.keepRefs(gone)
		s.Back = putBack(file)
	}
	return s
}

// groupOf is the name under which a ref is noticed together with others.
func groupOf(ref string) string {
	parts := strings.Split(ref, "/")
	keep := 2
	if len(parts) > 3 && (parts[1] == "remotes" || parts[1] == "ralph") {
		keep = 3
	}
	if len(parts) > 4 && parts[2] == "ralph" {
		keep = 4
	}
	return strings.Join(parts[:min(keep, len(parts))], "/")
}

// summary says how many refs were made, moved and deleted, and names the first.
func summary(list []executor.Drift) string {
	made, moved, deleted := 0, 0, 0
	var names []string
	for _, c := range list {
		switch {
		case c.Was == "":
			made++
		case c.Is == "":
			deleted++
		default:
			moved++
		}
		names = append(names, strings.TrimPrefix(strings.TrimPrefix(c.What, "refs/"), "heads/"))
	}
	return clip(fmt.Sprintf("%d made, %d moved, %d deleted: %s", made, moved, deleted, listed(names)))
}

func putBack(file string) string {
	return "git update-ref --no-deref --stdin < " + shellword.Quote(file)
}

// keepRefs keeps where refs were, as commands of git update-ref.
func (w *watch) keepRefs(list []executor.Drift) (file, digest string) {
	var b strings.Builder
	for _, c := range list {
		switch {
		case strings.HasPrefix(c.Was, "ref: "): // git has no word for it here
		case c.Was == "":
			fmt.Fprintf(&b, "delete %s\n", c.What)
		default:
			if isOid(c.Is) { // it may be the user's, and nowhere else
				fmt.Fprintf(&b, "create %s-%s %s\n", c.What, c.Is[:7], c.Is)
			}
			fmt.Fprintf(&b, "update %s %s\n", c.What, c.Was)
		}
	}
	digest = digestOf([]byte(b.String()))[:12]
	file = filepath.Join(w.kept(), "refs-"+digest)
	_ = regular.WriteOwn(file, []byte(b.String()), 0o600) // else the command fails, and says so
	return file, digest
}

var manyRefs = lazyregexp.New(`\((refs-[0-9a-f]{12})\)$`)

// manyRefs returns where the refs of a change stood that is about many.
func (w *watch) manyRefs(what string) (map[string]string, bool) {
	m := manyRefs.FindStringSubmatch(what)
	if m == nil {
		return nil, false
	}
	out := map[string]string{"": "?"} // never so: an unreadable file is not put back
	b, err := regular.ReadOwn(filepath.Join(w.kept(), m[1]))
	if err != nil {
		return out, true
	}
	delete(out, "")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] != "create" {
			out[f[1]] = strings.Join(f[2:], " ")
		}
	}
	return out, true
}

// onRecord are the commits at any of which a ref of the epic is by the record.
func (w *watch) onRecord(pins []executor.Pin) map[string][]string {
	return lists.Table(pins, func(p executor.Pin) (string, []string) { return w.pinRef(p), p.Commits })
}

func (w *watch) pinRef(p executor.Pin) string {
	if p.Step != "" {
		return w.s.attemptRef(executor.Effect{Node: p.Node, Step: p.Step, Attempt: p.Attempt})
	}
	return w.s.nodeRef(p.Node, "result")
}

// unpinned returns refs of the epic that are not where the record says.
func (w *watch) unpinned(pins []executor.Pin, known map[string]bool) []executor.Sighting {
	var out []executor.Sighting
	for _, p := range pins {
		ref := w.pinRef(p)
		if is := w.last.Refs[ref]; !known[ref] && !slices.Contains(p.Commits, is) {
			out = append(out, w.refSighting(ref, p.Commits[len(p.Commits)-1], is))
		}
	}
	return out
}

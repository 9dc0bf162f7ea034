package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// difference is what is not as it was in the user's checkout. A file that only went
// with HEAD is none.
type difference struct {
	changed, fresh, gone []string
	lost                 []string // what was not committed is not there any more: they are as in HEAD
	taken                []string // what was not committed is in HEAD now
	staged               string   // what became of what is staged, in words
	same                 bool     // HEAD has the same files as before
}

// compare says what of the checkout is not as it was: of HEAD, of the stash, of files.
func (was *checkout) compare(w *watch, now *checkout) []executor.Sighting {
	d := was.differ(w, now)
	var out []executor.Sighting
	if was.Head != now.Head || was.At != "" && was.At != now.At {
		out = append(out, was.compareHead(w, now, d))
	}
	out = append(out, was.compareStash(now)...)
	parts := []string{}
	for _, p := range []struct {
		what  string
		names []string
	}{
		{"what you had not committed is gone, it is as in HEAD: ", d.lost}, {"changed: ", d.changed}, {"new: ", d.fresh}, {"gone: ", d.gone},
	} {
		if len(p.names) > 0 {
			parts = append(parts, p.what+listed(p.names))
		}
	}
	if d.staged != "" {
		parts = append(parts, d.staged)
	}
	if len(parts) == 0 {
		return out
	}
	s := executor.Sighting{Thing: executor.ThingOther, Drift: executor.Drift{
		What: theCheckout, Was: executor.AsBefore, Look: "git status",
	}}
	s.Back = was.restore(w, now, d)
	if all := slices.Concat(d.lost, d.changed, d.fresh, d.gone); len(all) > 0 && len(all) <= mostFiles && d.staged == "" {
		s.Files = map[string]string{}
		size := 0
		for _, name := range all {
			f := was.Files[name]
			s.Files[name] = f.Content
			size += len(name) + len(f.Content) + len(`"":"",`)
			if f.Content == "" && f.Mode != 0 || size > mostNames { // its content was unknown, or an event has no room for it
				s.Files = nil
				break
			}
		}
	}
	if s.Back == "" && was.Kept != "" && len(d.lost)+len(d.changed)+len(d.gone) > shown {
		parts = append([]string{"what was not committed is kept in " + w.shown(filepath.Join(w.kept(), was.Kept))}, parts...)
	}
	s.Is = clip(strings.Join(parts, "; "))
	return append(out, s)
}

// theCheckout and theHead are what changes of the user's checkout are called.
const (
	theCheckout = "your checkout"
	theHead     = "HEAD of your checkout"
)

// mostNames bounds these files in an event, in bytes.
const mostNames = 2000

// mostFiles is how many files of a checkout are looked at to say that it is as it was.
const mostFiles = 50

// restore is the command that puts files back, as far as they are kept, "" if none is.
// What a new stash holds is left to it.
func (was *checkout) restore(w *watch, now *checkout, d difference) string {
	names := slices.Concat(d.lost, d.changed, d.gone)
	if len(names) > shown {
		return ""
	}
	stashed := map[string]string{}
	for _, s := range without(now.Stash, was.Stash) {
		for _, of := range []string{s.ID, s.ID + "^3"} {
			files := w.tree(of)
			for _, name := range names {
				if e, has := files[name]; has && e.hash == was.Files[name].Content {
					stashed[name] = s.ID
				}
			}
		}
	}
	var commands []string
	for _, name := range names {
		if stashed[name] != "" {
			continue
		}
		if from := w.keptWork(was, name); from != "" {
			_, err := os.Lstat(filepath.Join(w.s.top, filepath.FromSlash(name)))
			commands = append(commands, w.restore(from, name, err == nil))
		}
	}
	return strings.Join(commands, "; ")
}

// differ compares two looks at the checkout, each with what HEAD had then.
func (was *checkout) differ(w *watch, now *checkout) difference {
	var d difference
	names := slices.DeleteFunc(union(was.Files, now.Files), func(name string) bool {
		a, had := was.Files[name]
		b, has := now.Files[name]
		return had == has && a.same(b)
	})
	if len(names) == 0 && was.Index == now.Index && was.At == now.At {
		d.same = true
		return d
	}
	before := w.tree(was.At)
	after := before
	if was.At != now.At {
		after = w.tree(now.At)
		names = union(was.Files, now.Files)
	}
	d.same = maps.Equal(before, after)
	for _, name := range names {
		a, b := was.Files[name], now.Files[name]
		there, is := a.Mode != 0, b.Mode != 0
		clean, asHead := a.as(before, name), b.as(after, name)
		switch {
		case asHead && clean, there == is && a.same(b) && !asHead, !there && !is:
			continue
		case asHead && a.as(after, name):
			d.taken = append(d.taken, name)
		case !is:
			d.gone = append(d.gone, name)
		case asHead:
			d.lost = append(d.lost, name)
		case !there:
			d.fresh = append(d.fresh, name)
		default:
			d.changed = append(d.changed, name)
		}
	}
	d.fresh = w.unignored(d.fresh)
	d.staged = was.stagedSince(now, before, after)
	return d
}

// stagedSince says what became of what is staged. What was, and went into a commit, is
// not counted.
func (was *checkout) stagedSince(now *checkout, before, after map[string]treeEntry) string {
	if was.Index == now.Index {
		return ""
	}
	if len(was.Files) == 0 || len(now.Files) == 0 { // too many to say which
		return "what is staged changed"
	}
	a, b := was.staged(before), now.staged(after)
	var gone []string
	other := false
	for _, name := range union(a, b) {
		from, had := a[name]
		to, has := b[name]
		switch {
		case had == has && from == to, !has && from == after[name].hash:
		case !has && from != "":
			gone = append(gone, fmt.Sprintf("%s (%.12s)", name, from))
		default:
			other = true
		}
	}
	switch {
	case len(gone) > 0:
		return "not staged any more: " + listed(gone)
	case other:
		return "what is staged changed"
	}
	return ""
}

// staged is what the index has other than a commit: "" where it has nothing.
func (c *checkout) staged(tree map[string]treeEntry) map[string]string {
	out := map[string]string{}
	for name, f := range c.Files {
		if oid := cmp.Or(f.Index, f.Content); f.Known && oid != tree[name].hash {
			out[name] = oid
		}
	}
	for name, e := range tree {
		if !c.Files[name].Known && e.mode != submoduleMode {
			out[name] = ""
		}
	}
	return out
}

// as reports whether a file is as a commit has it.
func (a seen) as(tree map[string]treeEntry, name string) bool {
	e, has := tree[name]
	if !has || a.Mode == 0 {
		return !has && a.Mode == 0
	}
	mode := fs.FileMode(a.Mode)
	return a.Content == e.hash && (e.mode == "100755") == (mode.IsRegular() && mode&0o100 != 0)
}

// tree lists the files of a commit. Without the commit there are none.
func (w *watch) tree(commit string) map[string]treeEntry {
	if commit == "" {
		return nil
	}
	files, err := w.git().entries(context.Background(), "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil
	}
	return files
}

// words names the target of HEAD, in one value.
func (c *checkout) words() string {
	at := "no commit"
	if len(c.At) > 12 {
		at = c.At[:12]
	}
	if branch, ok := strings.CutPrefix(c.Head, "ref: refs/heads/"); ok {
		return branch + " at " + at
	}
	return at + ", detached"
}

// compareHead says where HEAD went. The command that takes it back leaves a branch
// where it was, and files as they are.
func (was *checkout) compareHead(w *watch, now *checkout, d difference) executor.Sighting {
	s := executor.Sighting{Thing: executor.ThingOther, Drift: executor.Drift{What: theHead, Was: was.words(), Is: now.words()}}
	forward := isOid(was.At) && isOid(now.At) && was.At != now.At && w.forward(was.At, now.At)
	switch {
	case forward:
		count, _ := w.git().line(context.Background(), place{}, "rev-list", "--count", was.At+".."+now.At)
		s.Is += ", " + count + " commits further"
		if count == "1" {
			s.Is = strings.TrimSuffix(s.Is, "s further") + " further"
		}
		s.Look = "git log --stat " + was.At[:12] + ".." + now.At[:12]
	case isOid(was.At) && isOid(now.At) && was.At != now.At:
		s.Is += ", which does not contain " + was.At[:12]
		s.Look = "git log --graph --oneline " + was.At[:12] + " " + now.At[:12]
	}
	if len(d.taken) > 0 {
		s.Is = clip(s.Is + "; it has what you had not committed in " + listed(d.taken))
	}
	if !isOid(was.At) || !isOid(now.At) {
		return s
	}
	branch, on := strings.CutPrefix(was.Head, "ref: refs/heads/")
	ref := "refs/heads/" + branch
	switch {
	case was.Head == now.Head:
		if on && forward {
			s.Back = keepRef("branch", branch, ref, now.At) + " && " + setRef(ref, was.At)
		}
		return s
	case !on:
		s.Back = "git update-ref --no-deref HEAD " + was.At
	case w.last.Refs[ref] == "":
		return s
	case d.same || forward && now.Head == now.At: // its files stay: they are on a branch
		s.Back = "git symbolic-ref HEAD " + shellword.Quote(ref)
	default:
		s.Back = "git switch --no-overwrite-ignore " + shellword.Quote(branch)
	}
	if now.Head == now.At && now.At != was.At {
		s.Back = keepRef("branch", "head", now.At, now.At) + " && " + s.Back
	}
	return s
}

// keepRef is the command that makes a branch or tag where one is: that may be
// the user's, and nowhere else.
func keepRef(kind, name, ref, at string) string {
	return "git " + kind + " " + shellword.Quote(name+"-"+at[:7]) + " " + shellword.Quote(ref)
}

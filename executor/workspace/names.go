package workspace

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Clash is a name that an epic needs and that is already taken.
type Clash struct {
	Nodes []ir.NodeID // who needs it; executor.Integration is the sum of all results
	What  string      // the fact, a clause
	Ways  []string    // what to do about it, one of these
	Epic  ir.NodeID   // other epic that has, or needs, what is in the way; "" if none has
}

// Glance returns a Space of which only State and Names may be used: it only reads files
// and starts no process. It is nil if top is not a checkout or worktrees would be in a
// forbidden place.
func Glance(top string, epic *ir.Epic) *Space {
	common := CommonDir(top)
	if common == "" {
		return nil
	}
	s := &space{repository: &repository{git: &git{common: common}, top: top}, epic: epic, branches: map[string]bool{}}
	s.carried = map[string]string{"core.ignorecase": "true"} // in some clone
	if s.know() != nil {
		return nil
	}
	return s.whole()
}

// Clashes finds what prevents creating branches and worktrees of this epic: existing
// branches that are not the epic's, branches beside which git cannot create them, branches
// that other epics of the repository need, and taken directories. It checks the nodes
// selected by need, and the sum: joined says that its branch, if it exists, is the epic's.
// Remote branches do not matter.
func (s Names) Clashes(need func(*ir.Node) bool, joined bool) ([]Clash, error) {
	refs, err := s.git.readRefs("refs/heads", strings.TrimSuffix(s.prefix(), "/"))
	if err != nil {
		return nil, err
	}
	joined = joined || s.epic.Epic.Integration.Mode != "dag" // the other modes go on from what is there
	l := s.names(refs, joined)
	l.others = s.elsewhere().needs
	wanted := l.wanted(need)
	if l.slug() { // everything else clashes, too
		return l.found, nil
	}
	for _, n := range wanted {
		l.exact(n)
	}
	l.beside(wanted)
	for _, n := range wanted {
		l.place(n)
	}
	return l.found, nil
}

// EpicFile is an epic's file.
type EpicFile struct {
	Name string
	JSON []byte
}

// Planned finds the names that this epic shares with epics that were compiled but not
// applied here. Nothing is taken yet: the epic that is applied first takes them. Names
// that are already this epic's are left out, as are epics with its own id and those of
// plans being compiled.
func (s Names) Planned(files []EpicFile, plans ...string) ([]Clash, error) {
	applied := s.elsewhere()
	others := map[string]other{}
	for _, f := range files {
		if e, ok := readNeeds(f.JSON); ok && e.Epic.ID != s.epic.Epic.ID && !applied.ids[e.Epic.ID] && !slices.Contains(plans, e.Epic.Plan) {
			e.add(others, other{file: f.Name})
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	refs, err := s.git.readRefs("refs/heads", strings.TrimSuffix(s.prefix(), "/"))
	if err != nil {
		return nil, err
	}
	l := s.names(refs, false)
	heads := l.heads
	wanted := slices.DeleteFunc(l.wanted(func(*ir.Node) bool { return true }), func(n *ir.Node) bool { return heads[n.Git.Branch] })
	l.heads, l.others = nil, others
	if !l.began[executor.Integration] && l.slug() {
		return l.found, nil
	}
	for _, n := range wanted {
		l.exact(n)
	}
	l.beside(wanted)
	return l.found, nil
}

// names begins a search.
func (s *space) names(refs map[string]string, joined bool) *names {
	l := &names{space: s, joined: joined, heads: map[string]bool{}, began: map[ir.NodeID]bool{}}
	for id := range s.begun {
		l.began[id], l.began[executor.Integration] = true, true
	}
	for ref := range refs {
		if strings.HasPrefix(ref, s.prefix()) { // the epic was applied
			l.began[executor.Integration] = true
		}
		if name, is := strings.CutPrefix(ref, "refs/heads/"); is {
			l.heads[name] = true
		}
		if rest, is := strings.CutPrefix(ref, s.prefix()+"nodes/"); is {
			id, what, _ := strings.Cut(rest, "/")
			l.began[ir.NodeID(id)] = l.began[ir.NodeID(id)] || mine(what)
		}
	}
	return l
}

// wanted are the sum and those nodes that need says.
func (s *space) wanted(need func(*ir.Node) bool) []*ir.Node {
	var wanted []*ir.Node
	if sum := s.nodes[executor.Integration]; sum != nil {
		wanted = append(wanted, sum)
	}
	for i := range s.epic.Nodes {
		if n := &s.epic.Nodes[i]; !n.Done && need(n) {
			wanted = append(wanted, n)
		}
	}
	return wanted
}

// names is one search for clashes.
type names struct {
	*space
	heads  map[string]bool    // branches that exist
	began  map[ir.NodeID]bool // nodes that have attempts or a result: their branch is ralph's
	others map[string]other   // by the branch that they need, or have made
	joined bool
	found  []Clash
}

// begun reports whether a node of another epic has had its branch made.
func (l *names) begun(o other) bool {
	prefix := "refs/ralph/" + string(o.epic) + "/"
	if o.node != executor.Integration {
		prefix += "nodes/" + string(o.node) + "/"
	}
	refs, err := l.git.readRefs(strings.TrimSuffix(prefix, "/"))
	for ref := range refs {
		if o.node == executor.Integration || mine(strings.TrimPrefix(ref, prefix)) {
			return true
		}
	}
	return err != nil
}

// slug finds another epic with the same integration branch: both would move it.
func (l *names) slug() bool {
	name := l.epic.Epic.Integration.Branch
	o := l.others[name]
	if o.node != executor.Integration {
		return false
	}
	yet := ""
	if o.file != "" {
		yet = "; it was compiled and not applied"
	}
	l.add(fmt.Sprintf("another epic uses the branch %s: %s, id %s (this one is %s, id %s)%s", name, o.plan, o.epic, l.epic.Epic.Plan, l.epic.Epic.ID, yet), []string{
		"if they are two plans, give one another slug (front matter: id)",
		fmt.Sprintf("if it is one plan that lost its id, write <!-- beads-ralph-epic: %s --> below its title and compile it again", o.epic),
		o.away("one"),
	}, o.epic, executor.Integration)
	return true
}

// exact finds a branch of this name.
func (l *names) exact(n *ir.Node) {
	name, sum := n.Git.Branch, n.ID == executor.Integration
	there := l.heads[name]
	o, wanted := l.others[name]
	if n.Kind == ir.Manual || there && (sum && l.joined || l.began[n.ID]) {
		return // the person's own, or ours
	}
	if wanted = wanted && there == l.begun(o); !wanted { // made and deleted it is free
		o = other{}
	}
	what := fmt.Sprintf("the branch %s of %s ", name, l.name(n.ID))
	switch {
	case wanted:
		what += "is that of " + o.String()
	case there:
		what += "exists and is not ralph's"
	default:
		return
	}
	l.add(what, l.ways(name, there, o, sum), o.epic, n.ID)
}

// ways says how a branch that is taken comes free, or another is named.
func (l *names) ways(taken string, there bool, o other, sum bool) []string {
	rename := fmt.Sprintf("git branch -m %s OTHER", shellword.Quote(taken))
	another := "name another in the plan (**Branch**), or by a template with {epic}: git { branch = \"work/{epic}/{sprint}-{slug}\" }"
	if sum {
		another = "give the plan another slug (front matter: id)"
	}
	switch {
	case !there:
		return []string{another, o.away("epic")}
	case sum && !strings.Contains(taken, "/"): // what all integration branches begin with
		return []string{rename}
	case o.epic != "":
		return []string{another, "if the other epic is over, " + rename}
	}
	return []string{rename, another}
}

// beside finds branches that are a directory of a name that is needed, or below it, and
// where case does not count those that are the same without it.
func (l *names) beside(wanted []*ir.Node) {
	fold := func(s string) string { return s }
	if l.carried["core.ignorecase"] == "true" {
		fold = strings.ToLower
	}
	all := map[string]string{}   // folded: as it is written
	below := map[string]string{} // directories of these: one of them
	note := func(name string) {
		all[fold(name)] = name
		for dir := path.Dir(fold(name)); dir != "."; dir = path.Dir(dir) {
			below[dir] = name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.others)) {
		if !l.heads[name] {
			note(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.heads)) { // these say it better
		note(name)
	}
	byTaken := map[string][]*ir.Node{}
	for _, n := range wanted {
		if l.heads[n.Git.Branch] {
			continue // it is there, so it can be
		}
		if taken := against(fold(n.Git.Branch), all, below); taken != "" && taken != n.Git.Branch {
			byTaken[taken] = append(byTaken[taken], n)
		}
	}
	for _, taken := range slices.Sorted(maps.Keys(byTaken)) {
		l.reportBeside(taken, byTaken[taken])
	}
}

// against is a name that cannot be beside the wanted one, "" if there is none.
func against(want string, all, below map[string]string) string {
	if same := all[want]; same != "" {
		return same
	}
	for dir := path.Dir(want); dir != "."; dir = path.Dir(dir) {
		if taken := all[dir]; taken != "" {
			return taken
		}
	}
	return below[want]
}

func (l *names) reportBeside(taken string, nodes []*ir.Node) {
	const most = 3
	there, o := l.heads[taken], l.others[taken]
	if !there && l.begun(o) {
		return // made and deleted
	}
	var ids []ir.NodeID
	var list []string
	sum := false
	for _, n := range nodes {
		ids, list = append(ids, n.ID), append(list, n.Git.Branch)
		sum = sum || n.ID == executor.Integration
	}
	said := text.Some(list, most)
	what := "the branch " + taken
	if o.epic != "" {
		what += " of " + o.String()
	}
	what += fmt.Sprintf(" and %s cannot be beside each other: ", said)
	if strings.HasPrefix(list[0], taken+"/") || strings.HasPrefix(taken, list[0]+"/") {
		what += "branches are files"
	} else {
		what += "where case does not count they are one file"
	}
	l.add(what, l.ways(taken, there, o, sum), o.epic, ids...)
}

// place finds a directory where a worktree is to be.
func (l *names) place(n *ir.Node) {
	if n.Kind == ir.Manual {
		return
	}
	w := l.own(n)
	if there, err := exists(l.record(w, ".json")); err != nil || there || l.ownClone(w) {
		return
	}
	what := "is taken by something that is not of this epic"
	switch entries, err := os.ReadDir(w.dir); {
	case os.IsNotExist(err) || err == nil && len(entries) == 0:
		return
	case l.began[n.ID] && (l.isWorktree(w.dir) || l.cutWhileMade(w.dir)): // ralph's record of it was lost
		return
	case err != nil:
		what = "cannot be used: " + err.Error()
	}
	ways := []string{"move it away"}
	if n.ID != executor.Integration {
		ways = append(ways, "name another place in the plan (**Worktree**)")
	}
	l.add(fmt.Sprintf("the place of the worktree of %s, %s, %s", l.name(n.ID), w.dir, what), ways, "", n.ID)
}

// isWorktree reports whether git knows a linked worktree at dir.
func (l *names) isWorktree(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(escapeGlob(l.git.common), "worktrees", "*", "gitdir"))
	return slices.ContainsFunc(files, func(f string) bool { return isFor(f, dir) })
}

func (l *names) add(what string, ways []string, of ir.NodeID, nodes ...ir.NodeID) {
	l.found = append(l.found, Clash{Nodes: nodes, What: what, Ways: ways, Epic: of})
}

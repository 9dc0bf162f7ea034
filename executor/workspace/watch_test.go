//go:build unix

package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

// watching is a repository that is watched, and what was sighted in it.
type watching struct {
	*repo
	w    executor.Watch
	seen []executor.Sighting
}

func newWatching(t *testing.T) *watching {
	t.Helper()
	r := newFrom(t, "watched", watched, executortest.Epic(two))
	hooks, err := os.ReadDir(filepath.Join(r.dir, ".git/hooks"))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks { // people run theirs
		r.write(".git/hooks/"+h.Name(), "#!/bin/sh\n")
	}
	w := &watching{repo: r, w: r.space.Checkout.Watch(nil)}
	if s := w.w.Start(nil, false, nil, nil); len(s) > 0 {
		t.Fatalf("at the start: %+v", s)
	}
	return w
}

// watched has branches, a tag and a remote.
func watched(r *repo) {
	first(r)
	r.git("branch", "theirs")
	r.git("remote", "add", "up", "https://good/x.git")
	r.git("config", "branch.theirs.remote", "up")
	r.git("config", "branch.main.pushRemote", "away")
	r.git("tag", "v1")
	r.write(".git/info/exclude", "*.tmp\n")
}

// around lets somebody do something while an attempt is in flight.
func (w *watching) around(does func()) []executor.Sighting {
	w.t.Helper()
	e := executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-1", Step: "implement", Attempt: 1}
	w.look()
	seen := w.w.Begin(e)
	does()
	w.look()
	seen = append(seen, w.w.End(e)...)
	w.seen = append(w.seen, seen...)
	return seen
}

// look lets the next look come at once.
func (w *watching) look() { w.w.(*watch).next = time.Time{} }

// sh runs a shell script of somebody's in the checkout. Submodules may be files.
func (w *watching) sh(script string) {
	w.t.Helper()
	cmd := exec.Command("/bin/sh", "-euc", script)
	cmd.Dir, cmd.Env = w.dir, append(withoutVar(os.Environ(), "GIT_DIR"), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// execution §5, tampering: what is seen around attempts, each with the command that
// puts it back, which does.
func TestWhatIsTamperedWithIsSeenAndPutBack(t *testing.T) {
	for name, c := range map[string]struct {
		does, what, is string
		thing          executor.Thing
	}{
		"hooks by a setting":      {`git config core.hooksPath /evil`, "core.hooksPath in .git/config", "/evil", executor.ThingSetting},
		"a program of git":        {`git config core.fsmonitor ./x; git config core.sshCommand "ssh -x"`, "core.fsmonitor in .git/config", "./x", executor.ThingSetting},
		"who commits":             {`git config user.name Mallory`, "user.name in .git/config", "Mallory", executor.ThingSetting},
		"an alias":                {`git config alias.st '!evil'`, "alias.st in .git/config", "!evil", executor.ThingSetting},
		"a filter":                {`git config filter.x.clean evil`, "filter.x.clean in .git/config", "evil", executor.ThingSetting},
		"another address":         {`git config url.https://evil/.insteadOf https://good/`, "url.https://evil/.insteadof in .git/config", "https://good/", executor.ThingSetting},
		"a remote's address":      {`git remote set-url up https://evil/x.git`, "remote.up.url in .git/config", "https://evil/x.git", executor.ThingSetting},
		"where pushes go":         {`git config remote.up.pushurl https://evil/x.git`, "remote.up.pushurl in .git/config", "https://evil/x.git", executor.ThingSetting},
		"what is fetched":         {`git config remote.up.fetch +refs/heads/*:refs/heads/*`, "remote.up.fetch in .git/config", "+refs/heads/*:refs/heads/*", executor.ThingSetting},
		"a remote that is gone":   {`git remote remove up`, "remote.up.url in .git/config", "", executor.ThingSetting},
		"a remote of a reference": {`git config remote.away.url https://evil/x.git`, "remote.away.url in .git/config", "https://evil/x.git", executor.ThingSetting},
		"an address as a name":    {`git config remote.https://good/x.git.url https://evil/x.git`, "remote.https://good/x.git.url in .git/config", "https://evil/x.git", executor.ThingSetting},
		"a remote with a program": {`git config remote.new.uploadpack ./evil`, "remote.new.uploadpack in .git/config", "./evil", executor.ThingSetting},
		"a remote over branches":  {`git config remote.new.fetch +refs/heads/*:refs/heads/*`, "remote.new.fetch in .git/config", "+refs/heads/*:refs/heads/*", executor.ThingSetting},
		"a branch's remote":       {`git remote add evil https://evil/x.git; git config branch.main.remote evil`, "branch.main.remote in .git/config", "evil", executor.ThingSetting},
		"a branch's address":      {`git config branch.theirs.pushRemote https://evil/x.git`, "branch.theirs.pushRemote in .git/config", "https://evil/x.git", executor.ThingSetting},
		"the remote of pushes":    {`git remote add evil https://evil/x.git; git config remote.pushDefault evil`, "remote.pushDefault in .git/config", "evil", executor.ThingSetting},
		"an address for pushes":   {`git config url.https://evil/.pushInsteadOf https://good/`, "url.https://evil/.pushinsteadof in .git/config", "https://good/", executor.ThingSetting},
		"a pager":                 {`git config core.pager evil; git config pager.log evil`, "core.pager in .git/config", "evil", executor.ThingSetting},
		"an editor":               {`git config sequence.editor evil; git config core.editor evil`, "sequence.editor in .git/config", "evil", executor.ThingSetting},
		"a program for diffs":     {`git config diff.external evil; git config diff.go.command evil`, "diff.external in .git/config", "evil", executor.ThingSetting},
		"a textconv":              {`git config diff.go.textconv evil`, "diff.go.textconv in .git/config", "evil", executor.ThingSetting},
		"a merge driver":          {`git config merge.ours.driver evil; git config mergetool.x.cmd evil`, "merge.ours.driver in .git/config", "evil", executor.ThingSetting},
		"who asks for passwords":  {`git config core.askPass ./evil`, "core.askPass in .git/config", "./evil", executor.ThingSetting},
		"who signs":               {`git config gpg.ssh.program ./evil; git config gpg.program ./evil`, "gpg.ssh.program in .git/config", "./evil", executor.ThingSetting},
		"a proxy":                 {`git config http.proxy http://me:secret@evil; git config core.gitProxy evil`, "http.proxy in .git/config", "http://…@evil (sha256 ", executor.ThingSetting},
		"a header":                {`git config http.https://good/.extraHeader "Authorization: secret"`, "http.https://good/.extraheader in .git/config", "not shown (sha256 ", executor.ThingSetting},
		"no certificates":         {`git config http.sslVerify false`, "http.sslverify in .git/config", "false", executor.ThingSetting},
		"another protocol":        {`git config protocol.ext.allow always`, "protocol.ext.allow in .git/config", "always", executor.ThingSetting},
		"a submodule's program":   {`git config submodule.x.update '!evil'`, "submodule.x.update in .git/config", "!evil", executor.ThingSetting},
		"attributes elsewhere":    {`git config core.attributesFile /evil`, "core.attributesFile in .git/config", "/evil", executor.ThingSetting},
		"another worktree":        {`git config core.worktree /nowhere/x`, "core.worktree in .git/config", "/nowhere/x", executor.ThingSetting},
		"an extension":            {`git config core.repositoryFormatVersion 1; git config extensions.future true`, "extensions.future in .git/config", "true", executor.ThingSetting},
		"a setting of a worktree": {`git config extensions.worktreeConfig true; git config --worktree core.sshCommand evil`, "core.sshCommand in .git/config.worktree", "evil", executor.ThingSetting},
		"a command of a trailer":  {`git config trailer.x.command evil`, "trailer.x.command in .git/config", "evil", executor.ThingSetting},
		"an include":              {`printf '[core]\n\tsshCommand = evil\n' > .git/more; git config include.path more`, "include.path in .git/config", "more", executor.ThingSetting},
		"a value with a password": {`git config remote.up.url https://me:secret@host/x`, "remote.up.url in .git/config", "https://…@host/x (sha256 ", executor.ThingSetting},
		"a helper of passwords":   {`git config credential.helper '!cat /secret'`, "credential.helper in .git/config", "not shown (sha256 ", executor.ThingSetting},
		"two values":              {`git config --add user.name Second`, "user.name in .git/config", "Test User, Second", executor.ThingSetting},
		"a new hook":              {`printf x > .git/hooks/pre-push`, "hook .git/hooks/pre-push", "1 bytes, mode ", executor.ThingSetting},
		"a changed hook":          {`echo evil >> .git/hooks/pre-commit`, "hook .git/hooks/pre-commit", "", executor.ThingSetting},
		"a hook's mode":           {`chmod 644 .git/hooks/pre-commit`, "hook .git/hooks/pre-commit", "mode 644", executor.ThingSetting},
		"a hook that is gone":     {`rm .git/hooks/post-commit`, "hook .git/hooks/post-commit", "", executor.ThingSetting},
		"a link as hook":          {`ln -s /evil .git/hooks/pre-push`, "hook .git/hooks/pre-push", "a link to /evil", executor.ThingSetting},
		"attributes":              {`echo '* filter=x' > .git/info/attributes`, "file .git/info/attributes", "", executor.ThingSetting},
		"excludes":                {`echo '*' > .git/info/exclude`, "file .git/info/exclude", "", executor.ThingSetting},
		"a deleted branch":        {`git branch -D theirs`, "refs/heads/theirs", "", executor.ThingForeign},
		"a deleted tag":           {`git tag -d v1`, "refs/tags/v1", "", executor.ThingForeign},
		"a rewritten branch":      {`git update-ref refs/heads/theirs $(git commit-tree -m x HEAD^{tree})`, "refs/heads/theirs", "", executor.ThingForeign},
		"a ref of the epic":       {`git update-ref refs/ralph/bd-epic/nodes/bd-1-2/result HEAD`, "refs/ralph/bd-epic/nodes/bd-1-2/result", "", executor.ThingOwn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t)
			seen := w.around(func() { w.sh(c.does) })
			i := slices.IndexFunc(seen, func(s executor.Sighting) bool { return s.What == c.what })
			if i < 0 {
				t.Fatalf("sighted %+v, want %s", seen, c.what)
			}
			s := seen[i]
			if !strings.Contains(s.Is, c.is) || s.Thing != c.thing || s.Forward && s.Thing == executor.ThingForeign {
				t.Errorf("sighted %+v, want %q, a %s", s, c.is, c.thing)
			}
			if strings.Contains(fmt.Sprint(s), "secret") {
				t.Errorf("a password is told: %+v", s)
			}
			if len(s.During) != 1 || s.During[0].Node != "bd-1-1" {
				t.Errorf("at work: %v", s.During)
			}
			undone := w.around(func() {
				for _, s := range seen {
					if s.Back == "" {
						t.Errorf("no command puts %s back", s.What)
					}
					w.sh(s.Back)
				}
			})
			for _, s := range seen {
				if !slices.ContainsFunc(undone, func(u executor.Sighting) bool { return u.What == s.What && u.Is == s.Was }) {
					t.Errorf("%s did not put %s back: %+v", s.Back, s.What, undone)
				}
			}
			if again := w.w.Finish(); len(again) > 0 {
				t.Errorf("seen at the end once more: %+v", again)
			}
		})
	}
}

// execution §5: what people do meanwhile is no tampering.
func TestWhatAPersonDoesMeanwhile(t *testing.T) {
	for name, c := range map[string]struct{ does, noticed string }{
		"commits":                 {`echo more >> README.md; git add -A; git -c core.hooksPath=/dev/null commit -qm more`, theHead},
		"tags":                    {`git tag v2; git tag -a -m v3 v3`, ""},
		"branches":                {`git branch feature; git branch -f theirs $(git commit-tree -p theirs -m more theirs^{tree})`, ""},
		"stashes":                 {`echo more >> README.md; git stash -q`, "refs/stash"},
		"adds a worktree":         {`git -c core.hooksPath=/dev/null worktree add -q ../elsewhere -b elsewhere`, ""},
		"fetches":                 {`git update-ref refs/remotes/origin/main HEAD`, "refs/remotes/origin"},
		"runs another epic":       {`git update-ref refs/ralph/bd-other/base HEAD; git branch ralph/y/1-1`, "refs/ralph/bd-other"},
		"packs refs":              {`git pack-refs --all; git gc -q`, ""},
		"edits":                   {`echo mine > mine.txt; echo more >> README.md`, "your checkout"},
		"builds":                  {`echo noise > build.log`, ""},
		"touches":                 {`touch README.md; git status -s`, ""},
		"switches":                {`git -c core.hooksPath=/dev/null switch -q -c other`, theHead},
		"sets a harmless setting": {`git config color.ui always; git config pull.rebase true; git config push.autoSetupRemote true`, ""},
		"adds a remote":           {`git remote add fork https://mine/x.git`, "remote.fork.url in .git/config"},
		"adds and renames it":     {`git remote add fork https://mine/x.git; git remote rename fork mine; git remote set-url mine https://mine/y.git`, "remote.mine.url in .git/config"},
		"tracks a branch":         {`git config branch.main.remote up; git config branch.main.merge refs/heads/main`, ""},
		"pushes a new branch":     {`git remote add fork https://mine/x.git; git branch feature; git config branch.feature.remote fork`, "remote.fork.url in .git/config"},
		"tracks another remote":   {`git config branch.theirs.remote .`, "branch.theirs.remote in .git/config"},
		"initialises submodules":  {`git config submodule.x.active true; git config submodule.x.url https://good/s.git`, "submodule.x.url in .git/config"},
		"makes it sparse":         {`git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout true`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t)
			seen := append(w.around(func() { w.sh(c.does) }), w.w.Finish()...)
			noticed := ""
			for _, s := range seen {
				known := (s.Thing == executor.ThingForeign || s.Thing == executor.ThingRoute) && s.Forward
				if s.Thing != executor.ThingOther && s.Thing != executor.ThingRoute && !known {
					t.Errorf("it is taken for tampering: %+v", s)
				}
				if !known {
					noticed = s.What
				}
			}
			if noticed != c.noticed {
				t.Errorf("noticed %q, want %q: %+v", noticed, c.noticed, seen)
			}
		})
	}
}

// ralph's own work is not taken for somebody else's, and unchanged settings cost no
// process.
func TestRalphIsNotWatched(t *testing.T) { overLayouts(t, testRalphIsNotWatched) }

func testRalphIsNotWatched(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	w := &watching{repo: r, w: r.space.Checkout.Watch(nil)}
	w.w.Start(nil, false, nil, nil)
	base := r.head()
	time.Sleep(2 * tick) // what was written just now is read again
	var kinds []string
	seen := w.around(func() { r.result("bd-1-1", base, "a.txt", "a\n") })
	r.space.git.started = func(args []string) { kinds = append(kinds, args[0]) }
	seen = append(seen, w.around(func() {})...)
	if seen = append(seen, w.w.Finish()...); len(seen) > 0 {
		t.Errorf("sighted %+v", seen)
	}
	if len(kinds) > 1 { // Finish reads the configuration once more
		t.Errorf("git was asked: %v", kinds)
	}
}

// What is no file is neither waited for nor read to its end.
func TestPipesAndHugeFilesDoNotHoldTheWatch(t *testing.T) {
	w := newWatching(t)
	seen := w.around(func() {
		for _, name := range []string{".git/hooks/pre-push", ".git/info/attributes", ".git/refs/heads/pipe", "pipe"} {
			if err := syscall.Mkfifo(filepath.Join(w.dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(filepath.Join(w.dir, ".git/config")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(w.dir, ".git/config"), 0o600); err != nil {
			t.Fatal(err)
		}
		huge, err := os.Create(filepath.Join(w.dir, ".git/hooks/huge"))
		if err == nil {
			err = huge.Truncate(1 << 40)
		}
		if err != nil {
			t.Fatal(err)
		}
		huge.Close()
	})
	for _, want := range []string{".git/config", "hook .git/hooks/pre-push", "hook .git/hooks/huge", "file .git/info/attributes", "user.name in .git/config"} {
		if !slices.ContainsFunc(seen, func(s executor.Sighting) bool { return s.What == want }) {
			t.Errorf("%s is not sighted: %+v", want, seen)
		}
	}
}

// A run that was cut is compared with what it had trusted; one that came to its end is not.
func TestWhatChangedWhileRalphWasDown(t *testing.T) {
	w := newWatching(t)
	w.sh(`git tag v2`)
	if err := w.w.Keep(w.around(func() {})); err != nil {
		t.Fatal(err)
	}
	w.sh(`git config core.hooksPath /evil; git branch -D theirs; git tag -d v2; echo x > mine; git update-ref refs/ralph/bd-epic/nodes/bd-1-1/result HEAD`)
	during := []executor.During{{Node: "bd-1-2", Step: "implement", Attempt: 1}}
	if seen := w.space.Checkout.Watch(nil).Start(nil, false, nil, nil); len(seen) > 0 {
		t.Errorf("after a whole run: %+v", seen)
	}
	w2 := newWatching(t)
	w2.sh(`git tag v2`)
	if err := w2.w.Keep(w2.around(func() {})); err != nil {
		t.Fatal(err)
	}
	w2.sh(`git config core.hooksPath /evil; git branch -D theirs; git tag -d v2; echo x > mine; git update-ref refs/ralph/bd-epic/nodes/bd-1-1/result HEAD`)
	open := []executor.Drift{{What: "core.hooksPath in .git/config", Was: "", Is: "/evil"}}
	var what []string
	for _, s := range w2.space.Checkout.Watch(nil).Start(open, true, during, []executor.Pin{{Node: "bd-1-1", Commits: []string{strings.Repeat("1", 40)}}}) {
		if s.Thing == executor.ThingRoute && s.Forward { // of the branch that is gone
			continue
		}
		what = append(what, s.What)
		if want := map[bool]int{true: 0, false: 1}[s.What == theCheckout]; len(s.During) != want { // an agent that ended before may have made it
			t.Errorf("at work: %+v", s)
		}
	}
	slices.Sort(what)
	want := []string{"refs/heads/theirs", "refs/ralph/bd-epic/nodes/bd-1-1/result", "refs/tags/v2", "your checkout"}
	if !slices.Equal(what, want) {
		t.Errorf("sighted %v, want %v", what, want)
	}
}

// What an earlier release did not watch is trusted as it is; the rest is compared.
func TestWhatAnEarlierReleaseDidNotWatchIsTrusted(t *testing.T) {
	w := newWatching(t)
	if err := w.w.Keep(w.around(func() {})); err != nil {
		t.Fatal(err)
	}
	w.sh(`sed -i -e 's/"version":[0-9]*,//' -e 's/"branch.[a-z]*.[a-zA-Z]* in .git.config":{[^}]*},//g' .git/ralph/*/trusted.json; ! grep -qE 'version|branch.theirs' .git/ralph/*/trusted.json
git config core.pager cat; git config core.sshCommand evil; git config branch.main.remote elsewhere`)
	seen := w.space.Checkout.Watch(nil).Start(nil, true, nil, nil)
	if len(seen) != 1 || seen[0].What != "core.sshCommand in .git/config" {
		t.Errorf("sighted %+v", seen)
	}
}

// Thousands of deleted tags are one line, and one command puts them back.
func TestManyRefsAreTold(t *testing.T) {
	w := newWatching(t)
	w.sh(`i=0; while [ $i -lt 300 ]; do echo "create refs/tags/t$i $(cat .git/refs/heads/main)"; i=$((i+1)); done | git update-ref --stdin`)
	w.around(func() {})
	seen := w.around(func() { w.sh(`git tag -d $(git tag -l 't*') > /dev/null`) })
	last := seen[len(seen)-1]
	if len(seen) != mostRefs+1 || last.What[:3] != "260" || !strings.Contains(last.Is, "260 deleted") {
		t.Fatalf("%d sightings, the last %+v", len(seen), last)
	}
	var back []string
	for _, s := range seen {
		back = append(back, s.Back)
	}
	w.sh(strings.Join(back, "\n"))
	w.around(func() {})
	if got := w.w.(*watch).valueOf(last.Drift); got != last.Was {
		t.Errorf("put back: %q", got)
	}
}

// What an attempt makes and takes away again was never trusted.
func TestABranchOfOneAttemptIsYoung(t *testing.T) {
	w := newWatching(t)
	e := executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-1", Step: "implement", Attempt: 1}
	other := executor.Effect{Kind: executor.EffectAgent, Node: "bd-1-2", Step: "implement", Attempt: 1}
	w.look()
	w.w.Begin(e)
	w.sh(`git branch mine`)
	w.look()
	w.w.Begin(other)
	w.sh(`git branch -D mine; git branch -D theirs`)
	w.look()
	for _, s := range w.w.End(e) {
		if s.Young != (s.What == "refs/heads/mine") {
			t.Errorf("sighted %+v", s)
		}
	}
}

// A ref that ralph itself has set since it was tampered with is put back to where the
// record says, not to where it stood before. execution §5 (tampering)
func TestARefThatRalphHasSetSinceIsNotPutBackToBefore(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	pin := executor.Pin{Node: "bd-1-1", Step: "implement", Attempt: 1, Commits: []string{r.head()}}
	ref := r.space.attemptRef(executor.Effect{Node: "bd-1-1", Step: "implement", Attempt: 1})
	open := []executor.Drift{{What: ref, Was: strings.Repeat("a", 40), Back: "git update-ref"}}
	start := func() []executor.Sighting {
		return r.space.Checkout.Watch(nil).Start(open, false, nil, []executor.Pin{pin})
	}

	r.git("update-ref", ref, r.head())
	if seen := start(); len(seen) != 1 || !seen[0].Over {
		t.Errorf("it is where the record says, and is sighted as %+v", seen)
	}
	r.git("update-ref", "-d", ref)
	seen := start()
	if len(seen) != 2 || !seen[0].Over || seen[1].Was != r.head() || seen[1].Is != "" || !strings.HasSuffix(seen[1].Back, r.head()) {
		t.Errorf("it is gone, and is sighted as %+v", seen)
	}
}

// A git that is killed says nothing about the file that it was to read; one that refuses
// the file does, and what is in it counts.
func TestAGitThatIsKilledIsNotTampering(t *testing.T) { // execution §5
	w := newWatching(t)
	killed := filepath.Join(t.TempDir(), "killed")
	program := filepath.Join(t.TempDir(), "git")
	own := w.space.git.bin
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *\" config --file - \"*) echo >> %[1]s; test $(wc -l < %[1]s) -gt 2 || kill -9 $$;; esac\nexec %[2]s \"$@\"\n", killed, own)
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w.space.git.bin = program
	if s := w.around(func() { w.sh("touch -d 2001-01-01 .git/config") }); len(s) > 0 {
		t.Errorf("a git that was killed: %+v", s)
	}
	if b, err := os.ReadFile(killed); err != nil || len(b) < 3 {
		t.Fatalf("no git was killed: %q, %v", b, err)
	}
	w.space.git.bin = own
	saw := map[string]bool{}
	for _, text := range []string{"[core", "[other"} {
		for _, s := range w.around(func() { w.write(".git/config", text) }) {
			saw[s.Is] = true
		}
	}
	if len(saw) < 2 {
		t.Errorf("two files that git refuses look the same: %v", saw)
	}
}

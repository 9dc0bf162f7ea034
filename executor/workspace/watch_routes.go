package workspace

import (
	"context"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// watchedKeys are the settings by which git names people, runs programs, or finds
// repositories, attributes and files. git writes sections and names in lower case.
// docs/operations.md has them as people write them.
var watchedKeys = lazyregexp.New(`^(` + strings.Join([]string{
	`core\.(hookspath|fsmonitor|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand|attributesfile|excludesfile|worktree)`,
	`(user|alias|filter|credential|url|include|includeif|pager|gpg|protocol)\..*`,
	`extensions\..*`, // but for worktreeConfig: what stands there is watched
	`instaweb\.httpd`, `pull\.(twohead|octopus)`, `sequence\.editor`, `interactive\.difffilter`, `diff\.external`, `init\.templatedir`, `fetch\.bundleuri`,
	`diff\..*\.(command|textconv)`, `merge\..*\.driver`, `(diff|merge)tool\..*\.(cmd|path)`, `(man|browser)\..*\.(cmd|path)`, `guitool\..*\.cmd`,
	`(trailer|tar|hook)\..*\.(command|cmd)`, `uploadpack\.packobjectshook`, `gc\.recentobjectshook`, `sendemail\..*(cmd|smtpserver)`, `imap\.tunnel`,
	`http\.(.*\.)?(proxy|sslverify|sslcainfo|sslcapath|proxysslcainfo|sslcert|sslkey|pinnedpubkey|curloptresolve|extraheader|cookiefile|followredirects)`,
	`lfs\.(url|pushurl|customtransfer\..*|extension\..*|(.*\.)?standalonetransferagent)`,
	`submodule\..*\.(url|update)`,
	`remote\..*\.(url|pushurl|fetch|push|uploadpack|receivepack|proxy|vcs|lfsurl|lfspushurl)`, `remote\.pushdefault`, `branch\..*\.(remote|pushremote|merge|mergeoptions)`,
}, `|`) + `)$`)

// unwatched are settings that watchedKeys would name.
var unwatched = map[string]bool{"extensions.worktreeconfig": true}

// earlierKeys are those that were watched before there was a version of what is on
// record (see kept.load).
var earlierKeys = lazyregexp.New(`^(core\.(hookspath|fsmonitor|sshcommand)|(user|alias|filter|credential|url|include|includeif)\..*|remote\..*\.(url|pushurl))$`)

// laterKeys are those that are watched since version 3.
var laterKeys = lazyregexp.New(`^(instaweb\.httpd|pull\.(twohead|octopus)|branch\..*\.(merge|mergeoptions))$`)

// camel are names of settings as people write them.
var camel = strings.NewReplacer("core.hookspath", "core.hooksPath", "core.sshcommand", "core.sshCommand", "core.askpass", "core.askPass",
	"core.gitproxy", "core.gitProxy", "core.attributesfile", "core.attributesFile", "core.excludesfile", "core.excludesFile",
	"core.alternaterefscommand", "core.alternateRefsCommand", "remote.pushdefault", "remote.pushDefault")

// keyName is a key as people write it.
func keyName(key string) string {
	if section, name := splitKey(key); section == "branch" {
		return strings.TrimSuffix(key, name) + strings.NewReplacer("pushremote", "pushRemote", "mergeoptions", "mergeOptions").Replace(name)
	}
	if strings.Count(key, ".") == 1 {
		return camel.Replace(key)
	}
	return key
}

// keyOf is the key that a change of a setting is about: "KEY in FILE"; "" if it is
// about a file.
func keyOf(what string) string {
	i := strings.LastIndex(what, " in ")
	if i < 0 || strings.HasPrefix(what, "file ") || strings.HasPrefix(what, "hook ") {
		return ""
	}
	return what[:i]
}

// splitKey returns the first and the last part of a key.
func splitKey(key string) (section, name string) {
	return key[:max(strings.IndexByte(key, '.'), 0)], key[strings.LastIndexByte(key, '.')+1:]
}

// routes are the names by which git found its way when the watch began.
type routes struct {
	remotes  map[string]bool // also those that a branch names, though they have no address
	branches map[string]bool
	modules  map[string]routes // of other git directories
}

// routesIn are those that settings and refs name, and remotes of the user's own
// configuration.
func (w *watch) routesIn(f facts) routes {
	r := newRoutes()
	for dir := range f.Dirs {
		r.modules[dir] = newRoutes()
	}
	for what, s := range f.Settings {
		key := keyOf(what)
		if key == "" {
			continue
		}
		if of, ok := r.modules[f.dirOf(what)]; ok {
			of.add(key, s.Value)
		} else {
			r.add(key, s.Value)
		}
	}
	for _, e := range w.personal() {
		r.add(e.key, e.value)
	}
	for ref := range f.Refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			r.branches[name] = true
		}
	}
	return r
}

func newRoutes() routes {
	return routes{map[string]bool{".": true}, map[string]bool{}, map[string]routes{}}
}

func (r routes) add(key, value string) {
	section, name := splitKey(key)
	middle := middleOf(key)
	switch {
	case section == "remote" && middle != "":
		r.remotes[middle] = true
	case section == "branch" && middle != "":
		r.branches[middle] = true
		if name != "merge" && strings.ToLower(name) != "mergeoptions" {
			r.remotes[value] = true
		}
	case section == "remote" && strings.EqualFold(name, "pushdefault"):
		r.remotes[value] = true
	}
}

// middleOf is the part of a key between the first and the last dot.
func middleOf(key string) string {
	section, name := splitKey(key)
	if len(key) < len(section)+len(name)+2 {
		return ""
	}
	return key[len(section)+1 : len(key)-len(name)-1]
}

// personal reads what the user's own configuration says of remotes.
func (w *watch) personal() []entry {
	var out []entry
	for b, err := range w.git().personal(context.Background(), "--get-regexp", `^(remote|branch)\.`) {
		if err == nil {
			out = append(out, entriesOf([]byte(b))...)
		}
	}
	return out
}

// settingSighting is the one of a setting. A remote that did not exist is no tampering,
// and neither is what leads a branch to a remote that was there: people do that. What
// leads elsewhere for a name that was there is, and what runs a program.
func (w *watch) settingSighting(what, was, is string) executor.Sighting {
	s := executor.Sighting{Thing: executor.ThingSetting, Drift: executor.Drift{What: what, Was: was, Is: is}}
	key := keyOf(what)
	section, name := splitKey(key)
	middle := middleOf(key)
	known := w.routes
	if dir := w.last.dirOf(what); dir != "" {
		known = known.modules[dir]
	}
	switch name = strings.ToLower(name); {
	case is == tooMany || was == tooMany:
		s.Thing = executor.ThingRoute
	case section == "branch" && name == "mergeoptions": // names a program of a strategy
	case section == "branch" && name == "merge":
		s.Thing, s.Forward = executor.ThingRoute, was == "" || is == ""
	case section == "remote" && middle != "":
		switch {
		case known.remotes[middle] || isAddress(middle):
		case name == "url" || name == "pushurl" || name == "lfsurl" || name == "lfspushurl":
			s.Thing = executor.ThingRoute
		case name == "push", name == "fetch" && fetchesInto(is, middle):
			s.Thing, s.Forward = executor.ThingRoute, true
		}
	case section == "remote" || section == "branch":
		switch {
		case is == "" || known.remotes[is] && (was != "" || section == "remote"):
			s.Thing = executor.ThingRoute
		case known.remotes[is]:
			s.Thing, s.Forward = executor.ThingRoute, true
		case section == "branch" && !known.branches[middle]:
			s.Thing = executor.ThingRoute
		}
	case section == "submodule" && name == "url" && (was == "" || is == ""): // git submodule init, deinit
		s.Thing = executor.ThingRoute
	case section == "submodule" && name == "update" && !strings.HasPrefix(is, "!"):
		s.Thing, s.Forward = executor.ThingRoute, true
	}
	return s
}

// branchOf is the branch that a setting is about, "" if it is about none.
func branchOf(what string) string {
	key := keyOf(what)
	if section, _ := splitKey(key); section != "branch" {
		return ""
	}
	return middleOf(key)
}

// isAddress reports whether the name of a remote is what people type as an address:
// git takes it for the name.
func isAddress(name string) bool {
	return strings.Contains(name, ":") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~")
}

// fetchesInto reports whether what is fetched from a remote goes where nothing else
// is. Values are separated by ", ".
func fetchesInto(values, remote string) bool {
	if values == "" {
		return true
	}
	for v := range strings.SplitSeq(values, ", ") {
		if _, to, ok := strings.Cut(v, ":"); ok && !strings.HasPrefix(to, "refs/remotes/"+remote+"/") {
			return false
		}
	}
	return true
}

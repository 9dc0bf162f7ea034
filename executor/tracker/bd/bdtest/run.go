package bdtest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// call is one run of the stand-in.
type call struct {
	dir      string // of faults
	beads    string
	actor    string
	command  string
	args     []string            // behind the command, without flags
	flags    map[string][]string // by long name
	json     bool
	out, err io.Writer
	db       *store
	wrote    bool
	fault    Fault
}

// refusal is an error that bd reports. Where it has JSON, Plain is false.
type refusal struct {
	code  int
	plain bool
	text  string
	data  any // on standard error instead of {"error": text}
}

func (r *refusal) Error() string { return r.text }

func refuse(format string, args ...any) error {
	return &refusal{1, false, fmt.Sprintf(format, args...), nil}
}

func plainly(format string, args ...any) error {
	return &refusal{1, true, fmt.Sprintf(format, args...), nil}
}

// groups are the commands with commands of their own.
var groups = []string{"config", "label", "dep", "epic", "gate", "state"}

var switches = []string{"json", "all", "include-gates", "force", "events", "skip-decay", "include-comments", "quiet", "stealth", "skip-hooks", "skip-agents", "non-interactive", "init-if-missing", "no-inherit-labels", "dry-run", "claim", "silent"}

var long = map[string]string{"l": "label", "s": "status", "a": "assignee", "p": "priority", "t": "type", "d": "description", "f": "file", "r": "reason", "q": "quiet", "u": "unassigned", "m": "message"}

// many are the flags whose values bd splits at commas.
var many = []string{"id", "label", "label-any", "exclude-label", "exclude-type", "status", "add-label", "remove-label", "set-labels", "labels"}

func (c *call) parse(args []string) error {
	c.flags = map[string][]string{}
	var words []string
	for k := 0; k < len(args); k++ {
		a := args[k]
		if len(a) < 2 || a[0] != '-' {
			words = append(words, a)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if l := long[name]; l != "" && !strings.HasPrefix(a, "--") {
			name = l
		}
		if slices.Contains(switches, name) {
			c.flags[name] = append(c.flags[name], "true")
			continue
		}
		if !given {
			if k++; k == len(args) {
				return plainly("Error: flag needs an argument: %s", a)
			}
			value = args[k]
		}
		if slices.Contains(many, name) {
			c.flags[name] = append(c.flags[name], strings.Split(value, ",")...)
		} else {
			c.flags[name] = append(c.flags[name], value)
		}
	}
	if len(words) == 0 {
		return nil
	}
	c.command, c.args = words[0], words[1:]
	if len(words) > 1 && (slices.Contains(groups, c.command) || c.command == "comments" && words[1] == "add") {
		c.command, c.args = words[0]+" "+words[1], words[2:]
	}
	c.json = c.has("json")
	return nil
}

func (c *call) has(flag string) bool { return len(c.flags[flag]) > 0 }

func (c *call) flag(name string) string {
	if v := c.flags[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

var commands map[string]func(*call) (any, error)

func init() {
	commands = map[string]func(*call) (any, error){
		"version": version, "context": where, "init": initialise, "config get": configGet, "config set": configSet, "config set-many": configSet,
		"list": list, "show": show, "ready": ready, "children": children, "export": export, "history": history, "comments": comments, "state": state,
		"import": importRows, "batch": batch, "create": create, "update": update, "close": closeIssues, "reopen": reopen, "unclaim": unclaim,
		"comments add": addComment, "comment": addComment, "label add": addLabel, "label remove": removeLabel, "label list": listLabels,
		"set-state": setState, "dep add": depAdd, "dep remove": depRemove, "gc": collect,
	}
}

// Main is the program: it lies in dir/bin, if New made dir. It returns the exit code.
func Main() int {
	self, err := exec.LookPath(os.Args[0])
	if err == nil {
		self, err = filepath.Abs(self)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	return run(filepath.Dir(filepath.Dir(self)), os.Args[1:], os.Stdout, os.Stderr)
}

// homeless are the commands that need no database.
var homeless = []string{"version", "init", ""}

// readers are the commands that write nothing.
var readers = []string{"version", "context", "config get", "list", "show", "ready", "children", "export", "history", "comments", "state", "label list", ""}

func run(dir string, args []string, out, errs io.Writer) int {
	c := &call{dir: dir, out: out, err: errs, actor: os.Getenv("BEADS_ACTOR")}
	if b, err := os.ReadFile(filepath.Join(dir, clockFile)); err == nil {
		_ = clock.UnmarshalText(b)
	}
	err := c.parse(args)
	if v := c.flag("actor"); v != "" {
		c.actor = v
	}
	if os.Getenv(quietVar) == "" {
		c.log(args)
		c.fault = c.choose(args)
	}
	if err == nil {
		err = c.perform()
	}
	if err == nil {
		return 0
	}
	return c.complain(err)
}

func (c *call) perform() error {
	switch c.fault.Do {
	case Refuse:
		return plainly("%s", c.fault.Text)
	case Kill:
		die()
	case Torn:
		if c.command != "import" {
			die()
		}
	case Help:
		c.help()
		return nil
	}
	do := commands[c.command]
	if do == nil {
		if first, _, _ := strings.Cut(c.command, " "); slices.Contains(groups, first) || c.command == "" {
			c.help()
			return nil
		}
		return plainly("Error: unknown command %q for \"bd\"\nRun 'bd --help' for usage.", c.command)
	}
	if os.Getenv("BD_READONLY") == "true" && !slices.Contains(readers, c.command) {
		return plainly("Error: operation '%s' is not allowed in read-only mode", c.command)
	}
	if !slices.Contains(homeless, c.command) {
		release, err := c.open()
		if err != nil {
			return err
		}
		defer release()
	}
	data, err := do(c)
	if err == nil && c.wrote {
		err = c.db.write(c.beads)
	}
	if err != nil {
		return err
	}
	if c.fault.Do == Answer {
		die()
	}
	if data == nil {
		return nil
	}
	return c.answer(data)
}

// open finds the database as bd does: BEADS_DIR if it has one, else above the
// working directory, else that of the repository that the worktree belongs to.
func (c *call) open() (func(), error) {
	c.beads = ""
	for _, dir := range c.places() {
		if _, err := os.Stat(filepath.Join(dir, storeFile)); err == nil {
			c.beads = dir
			break
		}
	}
	if c.beads == "" || c.fault.Do == Away {
		if c.command == "context" {
			return nil, refuse("cannot resolve repo context: no .beads directory found")
		}
		return nil, plainly("Error: no beads database found\nHint: run 'bd where' to inspect the resolved workspace, or 'bd init' to create a new database")
	}
	release, err := lock(filepath.Join(c.beads, lockFile))
	if err != nil {
		return nil, err
	}
	c.db, err = readStore(c.beads)
	return release, err
}

func (c *call) places() []string {
	var out []string
	if d := os.Getenv("BEADS_DIR"); d != "" {
		out = append(out, d)
	}
	cwd, _ := os.Getwd()
	for d := cwd; ; d = filepath.Dir(d) {
		out = append(out, filepath.Join(d, ".beads"))
		if b, err := os.ReadFile(filepath.Join(d, ".git")); err == nil { // of a linked worktree
			if gitdir, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: "); ok {
				out = append(out, filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(gitdir))), ".beads"))
			}
		}
		if d == filepath.Dir(d) {
			return out
		}
	}
}

func (c *call) help() {
	fmt.Fprintf(c.out, "Manage things\n\nUsage:\n  bd %s [command]\n", c.command)
}

// answer prints data as bd prints JSON.
func (c *call) answer(data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if c.fault.Do == Keys {
		b = strange(b)
	}
	if c.fault.Do != Bare && os.Getenv("BD_JSON_ENVELOPE") == "1" {
		b, err = json.Marshal(map[string]any{"data": json.RawMessage(b), "schema_version": 1})
	}
	fmt.Fprintf(c.out, "%s\n", b)
	return err
}

// strange adds an unknown key to every object.
func strange(b []byte) []byte {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return b
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				if k != "metadata" {
					walk(x)
				}
			}
			v["unheard_of"] = map[string]any{"deep": []any{1, "two"}}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	out, err := json.Marshal(v)
	if err != nil {
		return b
	}
	return out
}

// complain says an error where bd says it.
func (c *call) complain(err error) int {
	r, ok := err.(*refusal)
	if !ok {
		fmt.Fprintf(c.err, "Error: %v\n", err)
		return 1
	}
	switch {
	case r.plain || !c.json:
		fmt.Fprintln(c.err, r.text)
	case r.data != nil:
		fmt.Fprintln(c.err, r.text)
		b, _ := json.MarshalIndent(map[string]any{"data": r.data, "schema_version": 1}, "", "  ")
		fmt.Fprintf(c.err, "%s\nexit code %d\n", b, r.code)
	default:
		fmt.Fprintln(c.err, "Error: "+r.text)
		_ = c.answer(map[string]string{"error": r.text})
	}
	return r.code
}

// log writes down that the call was made.
func (c *call) log(args []string) {
	rec := Call{Command: c.command, Args: args, Actor: c.actor, Input: c.input()}
	b, err := json.Marshal(rec)
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(c.dir, "calls.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(b, '\n'))
}

// input is the content of the file that the call was given; "" if there is none.
func (c *call) input() (text string) {
	for _, file := range c.inputs() {
		if b, err := os.ReadFile(file); err == nil {
			text = string(b)
		}
	}
	return text
}

// inputs are the files that the call was given.
func (c *call) inputs() []string {
	var out []string
	if c.command == "import" {
		out = append(out, c.args...)
	}
	out = append(out, c.flags["file"]...)
	for _, m := range c.flags["metadata"] {
		if file, ok := strings.CutPrefix(m, "@"); ok {
			out = append(out, file)
		}
	}
	return out
}

// choose returns the fault that this call has.
func (c *call) choose(args []string) Fault {
	release, err := lock(filepath.Join(c.dir, "faults.lock"))
	if err != nil {
		return Fault{}
	}
	defer release()
	var faults []Fault
	if b, err := os.ReadFile(filepath.Join(c.dir, "faults.json")); err != nil || json.Unmarshal(b, &faults) != nil {
		return Fault{}
	}
	input := c.input()
	counts := map[int]int{}
	if b, err := os.ReadFile(filepath.Join(c.dir, "counts.json")); err == nil {
		_ = json.Unmarshal(b, &counts)
	}
	var chosen Fault
	for k, f := range faults {
		if f.On != "" && f.On != c.command || f.With != "" && !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, f.With) }) {
			continue
		}
		if f.In != "" && !strings.Contains(input, f.In) {
			continue
		}
		if counts[k]++; chosen.Do == "" && (f.Nth == 0 || f.Nth == counts[k]) {
			chosen = f
		}
	}
	if b, err := json.Marshal(counts); err == nil {
		_ = os.WriteFile(filepath.Join(c.dir, "counts.json"), b, 0o600)
	}
	return chosen
}

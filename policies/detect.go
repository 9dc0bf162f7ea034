package policies

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// TestCommand is how a project's own tests are run, according to a file at its root.
type TestCommand struct {
	Tool    string   // Go, Node, make, …
	File    string   // what it was recognised by
	Command string   // runs the tests
	Setup   []string // what a fresh checkout needs before
	Protect []string // files at the root that decide what the command does, and that are there
	Instead []string // globs of files that would decide it, were they there, too; after "**/" anywhere
	tests   *lazyregexp.Regexp
	Target  bool // the tool only runs what others do: just, make
}

// testTools lists, in order, how projects are recognised. Of a tool, the first file
// that says how to test decides.
var testTools = []struct {
	tool    string
	files   []string                                               // globs
	ask     func(d *detector, file string, src []byte) TestCommand // without a command: the file does not say it
	protect []string                                               // globs
	instead []string                                               // globs of files that the tool would read, were they there; after "**/" in any directory
	tests   *lazyregexp.Regexp
	alone   bool // only where nothing else is recognised
}{
	{
		"Rust",
		[]string{"Cargo.toml"},
		says("cargo test"),
		nil,
		[]string{"**/Cargo.toml", "**/build.rs", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml"},
		rustTest, false,
	},
	{"Python", []string{"pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py", "requirements.txt", "requirements-dev.txt", "setup.py"}, pythonTests, nil, pythonConfig, pythonTest, false},
	{"Node", []string{"package.json"}, nodeTests, []string{"package.json", "babel.config.*"}, nodeConfig, nodeTest, false},
	{"Go", []string{"go.mod", "go.work"}, says("go test ./..."), []string{"go.mod"}, []string{"go.work"}, goTest, false},
	{
		"Gradle",
		[]string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
		wrapped("./gradlew", "gradle", " test"),
		[]string{"gradlew", "gradle/wrapper/*"},
		[]string{"**/build.gradle", "**/build.gradle.kts", "**/settings.gradle", "**/settings.gradle.kts", "**/gradle.properties"},
		javaTest, false,
	},
	{"Maven", []string{"pom.xml"}, wrapped("./mvnw", "mvn", " test"), []string{"mvnw"}, []string{"**/pom.xml", ".mvn/**"}, javaTest, false},
	{"just", justFiles, target("just test", justTest), nil, justFiles, nil, true},
	{"make", makeFiles, target("make test", makeTest), nil, makeFiles, nil, true},
	{"Python", []string{"test_*.py", "tests/test_*.py", "test/test_*.py", "tests/*/test_*.py"}, pythonTests, nil, pythonConfig, pythonTest, true},
}

// pythonConfig are the files that decide what pytest and unittest run, or stand in for them.
var pythonConfig = []string{
	"**/conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
	"pytest.py", "pytest/**", "_pytest/**", "unittest.py", "unittest/**", "**/sitecustomize.py", "**/usercustomize.py",
}

// nodeConfig are the files that decide what jest, vitest and mocha run, and how npm and yarn run scripts.
var nodeConfig = []string{"**/jest.config.*", "**/vitest.config.*", "**/vitest.workspace.*", "vite.config.*", "**/.mocharc.*", ".npmrc", ".yarnrc", ".yarnrc.yml"}

// How files of tests are called.
var (
	rustTest   = lazyregexp.New(`^(?:.*/)?tests/.*\.rs$`)
	pythonTest = lazyregexp.New(`^(?:.*/)?(?:(?:test_[^/]*|[^/]*_test|conftest)\.py|tests?/(?:.*/)?__init__\.py)$`)
	nodeTest   = lazyregexp.New(`^(?:.*/)?(?:[^/]+[.-](?:test|spec)\.[cm]?[jt]sx?|(?:__tests__|tests?)/.*\.[cm]?[jt]sx?)$`)
	goTest     = lazyregexp.New(`_test\.go$`)
	javaTest   = lazyregexp.New(`^(?:.*/)?src/test/`)
)

// Names of files in the order in which their tools look for them.
var (
	makeFiles = []string{"GNUmakefile", "makefile", "Makefile"}
	justFiles = []string{"justfile", "Justfile", ".justfile"}
)

// ciFiles are where projects say what their CI runs.
var ciFiles = []string{
	".github/workflows/*", ".gitlab-ci.yml", ".circleci/*", ".buildkite/*", "Jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml",
	".travis.yml", ".woodpecker.yml", ".drone.yml", ".ci/*",
}

var (
	makeTest = lazyregexp.New(`(?m)^test[ \t]*:(?:[^=]|$)`)
	justTest = lazyregexp.New(`(?m)^@?test(?:[ \t]+[^:=\n]*)?:(?:[^=]|$)`)
)

// maxManifest bounds a file that is read to find out how a project is tested.
const maxManifest = 1 << 20

// DetectTests finds how a project is tested from the files at its root: Rust, Python,
// Node, Go, Gradle, Maven, in this order; just and make if none of these is recognised.
// A nil project has no tests.
func DetectTests(project fs.FS) []TestCommand {
	if project == nil {
		return nil
	}
	d := &detector{project}
	var out []TestCommand
	for _, t := range testTools {
		if t.alone && len(out) > 0 {
			break
		}
		for _, file := range d.there(t.files) {
			src, ok := d.read(file)
			if !ok {
				continue
			}
			c := t.ask(d, file, src)
			if c.Command == "" {
				continue
			}
			c.Tool, c.File, c.Instead, c.tests = t.tool, file, t.instead, t.tests
			c.Protect = append(c.Protect, d.there(t.protect)...)
			c.Protect = append(c.Protect, d.there(t.instead)...)
			c.Protect = append(c.Protect, RunsThrough(project, c.Command)...)
			slices.Sort(c.Protect)
			c.Protect = slices.Compact(c.Protect)
			out = append(out, c)
			break
		}
	}
	return out
}

// CIFiles are the files at the root that configure the project's CI.
func CIFiles(project fs.FS) []string {
	d := &detector{project}
	var out []string
	for _, glob := range ciFiles {
		if len(d.there([]string{glob})) > 0 {
			out = append(out, strings.TrimSuffix(glob, "*")+strings.Repeat("**", strings.Count(glob, "*")))
		}
	}
	return out
}

// detector looks at a project.
type detector struct{ project fs.FS }

func (d *detector) read(file string) ([]byte, bool) {
	if st, err := fs.Stat(d.project, file); err != nil || !st.Mode().IsRegular() || st.Size() > maxManifest {
		return nil, false
	}
	b, err := fs.ReadFile(d.project, file)
	return b, err == nil
}

func (d *detector) has(file string) bool {
	st, err := fs.Stat(d.project, file)
	return err == nil && st.Mode().IsRegular()
}

// maxWalk bounds the files that are looked at for tests.
const maxWalk = 50_000

// TestFiles are the project's test files, in order, without those of projects within it.
// Those of just and make are unknown.
func (c *TestCommand) TestFiles(project fs.FS) (out []string) {
	if c.tests == nil {
		return nil
	}
	n := 0
	_ = fs.WalkDir(project, ".", func(path string, e fs.DirEntry, err error) error { // what cannot be read has no tests
		n++
		switch {
		case n > maxWalk:
			return fs.SkipAll
		case err != nil && e != nil && e.IsDir(), e != nil && e.IsDir() && path != "." && (e.Name()[0] == '.' || slices.Contains(foreign, e.Name())):
			return fs.SkipDir
		case err == nil && e.Type().IsRegular() && c.tests.MatchString(path):
			out = append(out, path)
		}
		return nil
	})
	return out
}

// foreign are directories of what a project did not write.
var foreign = []string{"node_modules", "vendor", "venv", "target", "build", "dist", "__pycache__"}

// there is what globs find, at the root where they may be anywhere.
func (d *detector) there(globs []string) []string {
	var out []string
	for _, g := range globs {
		found, _ := fs.Glob(d.project, strings.TrimPrefix(g, "**/")) // the patterns are well formed
		for _, f := range found {
			if d.has(f) {
				out = append(out, f)
			}
		}
	}
	return out
}

func says(command string) func(*detector, string, []byte) TestCommand {
	return func(*detector, string, []byte) TestCommand { return TestCommand{Command: command} }
}

// wrapped prefers the program that the project brings.
func wrapped(own, else_, args string) func(*detector, string, []byte) TestCommand {
	return func(d *detector, _ string, _ []byte) TestCommand {
		if d.has(own[2:]) {
			return TestCommand{Command: own + args}
		}
		return TestCommand{Command: else_ + args}
	}
}

// target is a command whose file has to have the target.
func target(command string, has *lazyregexp.Regexp) func(*detector, string, []byte) TestCommand {
	return func(_ *detector, _ string, src []byte) TestCommand {
		if !has.Match(src) {
			return TestCommand{}
		}
		return TestCommand{Command: command, Target: true}
	}
}

// pythonTests takes pytest where some file speaks of it, else Python's own tests
// where they are at a usual place.
func pythonTests(d *detector, file string, src []byte) TestCommand {
	section := map[string]string{"pyproject.toml": "[tool.pytest", "setup.cfg": "[tool:pytest]", "tox.ini": "[pytest]"}[file]
	var c TestCommand
	switch {
	case file == "pytest.ini", file == "conftest.py":
		c.Command = "python3 -m pytest"
	case section != "" && bytes.Contains(src, []byte(section)):
		c.Command, c.Protect = "python3 -m pytest", []string{file}
	case section != "" && file != "pyproject.toml":
	case bytes.Contains(src, []byte("pytest")):
		c.Command = "python3 -m pytest"
	case file == "pyproject.toml" || strings.HasSuffix(file, ".py") || strings.HasPrefix(file, "requirements"):
		if tests := d.there([]string{"test_*.py", "test*/test_*.py", "tests/*/test_*.py"}); len(tests) > 0 {
			c.Command = "python3 -m unittest"
			if dir, _, in := strings.Cut(tests[0], "/"); in && !d.has(dir+"/__init__.py") { // else it finds none, and passes
				c.Command += " discover -s " + dir
			}
		}
	}
	if c.Command == "" {
		return c
	}
	switch {
	case d.has("uv.lock"):
		c.Command = "uv run " + strings.Replace(c.Command, "python3", "python", 1)
	case d.has("poetry.lock"):
		c.Command, c.Setup = "poetry run "+strings.Replace(c.Command, "python3", "python", 1), []string{"poetry install"}
	}
	return c
}

// nodeTests runs the test script with the package manager whose lock is there.
func nodeTests(d *detector, _ string, src []byte) TestCommand {
	var m struct {
		Scripts        map[string]string `json:"scripts"`
		PackageManager string            `json:"packageManager"`
		Dependencies   map[string]any    `json:"dependencies"`
		Dev            map[string]any    `json:"devDependencies"`
	}
	test := ""
	if json.Unmarshal(src, &m) == nil {
		test = strings.TrimSpace(m.Scripts["test"])
	}
	if test == "" || strings.Contains(test, "no test specified") {
		return TestCommand{}
	}
	name, _, _ := strings.Cut(m.PackageManager, "@")
	c := TestCommand{Command: "npm test", Setup: []string{"npm install"}}
	switch {
	case d.has("pnpm-lock.yaml") || name == "pnpm":
		c.Command, c.Setup = "pnpm test", []string{"pnpm install --frozen-lockfile"}
	case d.has("yarn.lock") || name == "yarn":
		c.Command, c.Setup = "yarn test", []string{"yarn install --frozen-lockfile"}
		if d.has(".yarnrc.yml") {
			c.Setup = []string{"yarn install --immutable"}
		}
	case d.has("package-lock.json") || d.has("npm-shrinkwrap.json"):
		c.Setup = []string{"npm ci"}
	}
	if len(m.Dependencies)+len(m.Dev) == 0 {
		c.Setup = nil
	}
	return c
}

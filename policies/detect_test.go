package policies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/internal/glob"
)

// files makes a project: each argument is a path, or path=content.
func files(all ...string) fstest.MapFS {
	project := fstest.MapFS{}
	for _, f := range all {
		name, text, _ := strings.Cut(f, "=")
		project[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return project
}

const script = `package.json={"scripts":{"test":"jest"},"devDependencies":{"jest":"1"}}`

func TestHowAProjectIsTested(t *testing.T) { // S2-19, L2-05
	for name, x := range map[string]struct {
		project fstest.MapFS
		want    string // commands
		setup   string
		protect string
	}{
		"nothing":                        {files(), "", "", ""},
		"Maven":                          {files("pom.xml"), "mvn test", "", "pom.xml"},
		"Maven's wrapper":                {files("pom.xml", "mvnw"), "./mvnw test", "", "mvnw pom.xml"},
		"Gradle before Maven":            {files("pom.xml", "build.gradle.kts", "gradlew"), "./gradlew test, mvn test", "", "build.gradle.kts gradlew"},
		"Go before Gradle":               {files("build.gradle", "go.mod"), "go test ./..., gradle test", "", "go.mod"},
		"Node before Go":                 {files("go.mod", script), "npm test, go test ./...", "npm install", "package.json"},
		"Python before Node":             {files("pytest.ini", script), "python3 -m pytest, npm test", "", "pytest.ini"},
		"Rust before Python":             {files("pytest.ini", "Cargo.toml"), "cargo test, python3 -m pytest", "", "Cargo.toml"},
		"pnpm":                           {files(script, "pnpm-lock.yaml", "jest.config.js"), "pnpm test", "pnpm install --frozen-lockfile", "jest.config.js package.json"},
		"yarn":                           {files(script, "yarn.lock"), "yarn test", "yarn install --frozen-lockfile", "package.json"},
		"npm with a lock":                {files(script, "package-lock.json"), "npm test", "npm ci", "package.json"},
		"nothing to install":             {files(`package.json={"scripts":{"test":"node --test"}}`), "npm test", "", "package.json"},
		"no test script":                 {files("go.mod", `package.json={"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`), "go test ./...", "", "go.mod"},
		"the script's file":              {files(`package.json={"scripts":{"test":"node tools/run.js"}}`, "tools/run.js"), "npm test", "", "package.json tools/run.js"},
		"uv":                             {files("pyproject.toml=[tool.pytest.ini_options]", "uv.lock"), "uv run python -m pytest", "", "pyproject.toml"},
		"poetry":                         {files(`pyproject.toml=pytest = "^8"`, "poetry.lock"), "poetry run python -m pytest", "poetry install", "pyproject.toml"},
		"pytest is required":             {files("requirements.txt=pytest>=8"), "python3 -m pytest", "", ""},
		"Python's own tests":             {files("setup.py", "tests/test_a.py", "tests/__init__.py"), "python3 -m unittest", "", ""},
		"in a directory":                 {files("setup.py", "tests/test_a.py"), "python3 -m unittest discover -s tests", "", ""},
		"Python without a file of it":    {files("shop/__init__.py", "test_shop.py"), "python3 -m unittest", "", ""},
		"only tests in a directory":      {files("tests/test_a.py"), "python3 -m unittest discover -s tests", "", ""},
		"tests that need pytest":         {files("tests/test_a.py=import pytest"), "python3 -m pytest", "", ""},
		"make before tests":              {files("tests/test_a.py", "Makefile=test:\n"), "make test", "", "Makefile"},
		"Python without tests":           {files("pyproject.toml=[project]"), "", "", ""},
		"a target of make":               {files("Makefile=all: a\n\ntest: all\n\tsh t.sh\n"), "make test", "", "Makefile"},
		"make without the target":        {files("Makefile=testing: x\ntest := 1\n"), "", "", ""},
		"just":                           {files("justfile=test *args:\n  sh t.sh\n", "Makefile=test:\n"), "just test", "", "justfile"},
		"a language before its Makefile": {files("go.mod", "Makefile=test:\n\tgo test ./...\n"), "go test ./...", "", "go.mod"},
	} {
		var commands []string
		found := DetectTests(x.project)
		for _, f := range found {
			commands = append(commands, f.Command)
		}
		setup, protect := "", ""
		if len(found) > 0 {
			setup, protect = strings.Join(found[0].Setup, "; "), strings.Join(found[0].Protect, " ")
		}
		if got := strings.Join(commands, ", "); got != x.want || setup != x.setup || protect != x.protect {
			t.Errorf("%s: got %q, setup %q, protect %q; want %q, %q, %q", name, got, setup, protect, x.want, x.setup, x.protect)
		}
	}
	if DetectTests(nil) != nil {
		t.Error("no project has tests")
	}
}

func TestWhatACommandRunsThrough(t *testing.T) {
	project := files("Makefile", "web/Makefile", "ci.mk", "package.json={\"scripts\":{\"test\":\"sh scripts/a.sh && jest\",\"pretest\":\"./scripts/b.sh\"}}", "scripts/a.sh", "scripts/b.sh",
		"web/package.json={\"scripts\":{\"lint\":\"eslint .\"}}", "justfile", "gradlew", "build.gradle", "pom.xml", "run.py", "go.mod")
	for command, want := range map[string]string{
		"make test":                              "Makefile",
		"make -C web test":                       "web/Makefile",
		"make -f ci.mk":                          "ci.mk",
		"cd web && make":                         "web/Makefile",
		"CI=1 timeout 60 make test | tee log":    "Makefile",
		"npm test":                               "package.json scripts/a.sh scripts/b.sh",
		"npm --prefix web run lint":              "web/package.json",
		"pnpm install":                           "",
		"npm exec jest":                          "",
		"yarn test -- --ci":                      "package.json scripts/a.sh scripts/b.sh",
		"just test":                              "justfile",
		"./gradlew test":                         "build.gradle gradlew",
		"mvn -q verify":                          "pom.xml",
		"./scripts/a.sh":                         "scripts/a.sh",
		"sh -eu scripts/a.sh x":                  "scripts/a.sh",
		"bash -c 'make test && ./scripts/b.sh'":  "Makefile scripts/b.sh",
		"python3 run.py":                         "run.py",
		"python3 -m pytest":                      "",
		"go test ./...":                          "",
		"go vet ./... && make lint":              "Makefile",
		"sh ../outside.sh":                       "",
		"sh /etc/passwd":                         "",
		"${run.worktree}/scripts/a.sh":           "scripts/a.sh",
		"echo 'make test' # sh scripts/a.sh":     "",
		"if true; then sh scripts/b.sh; fi":      "scripts/b.sh",
		"sh no-such-file.sh":                     "",
		"(cd web; make); sh \"scripts/a.sh\" &":  "scripts/a.sh web/Makefile",
		strings.Repeat("make; ", 1000):           "Makefile",
		"cd ../../../etc && sh passwd":           "",
		"'":                                      "",
		"nice -n 5 env A=b sh ./scripts/a.sh $":  "scripts/a.sh",
		"sh ./scripts/a.sh '$":                   "", // no shell runs it
		"cd web && make -C .. && npm run lint":   "Makefile web/package.json",
		"timeout -k 5 60 npm test":               "package.json scripts/a.sh scripts/b.sh",
		"ls | xargs -n 1 sh scripts/a.sh":        "scripts/a.sh",
		"bash -o pipefail scripts/a.sh":          "scripts/a.sh",
		"test -x ./scripts/a.sh && make":         "Makefile",
		"cd web && ${run.worktree}/scripts/a.sh": "scripts/a.sh",
	} {
		if got := strings.Join(RunsThrough(project, command), " "); got != want {
			t.Errorf("%.60q: got %q, want %q", command, got, want)
		}
	}
	if RunsThrough(nil, "make") != nil {
		t.Error("no project has a Makefile")
	}
}

func TestCIFiles(t *testing.T) {
	got := CIFiles(files(".github/workflows/ci.yml", ".gitlab-ci.yml", "main.go"))
	if want := []string{".github/workflows/**", ".gitlab-ci.yml"}; !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", fmt.Sprint(got), want)
	}
}

func TestTheTestsOfAProject(t *testing.T) {
	for name, x := range map[string]struct {
		project fstest.MapFS
		want    string
	}{
		"Go":     {files("go.mod", "a.go", "a_test.go", "b/c_test.go", "vendor/x/x_test.go", ".git/x_test.go"), "a_test.go b/c_test.go"},
		"Python": {files("test_a.py", "a.py", "tests/conftest.py", "venv/test_b.py"), "test_a.py tests/conftest.py"},
		"Node":   {files(script, "a.test.ts", "src/__tests__/b.js", "node_modules/x/a.test.js", "test/c.mjs"), "a.test.ts src/__tests__/b.js test/c.mjs"},
		"make":   {files("Makefile=test:\n", "a_test.go"), ""},
	} {
		found := DetectTests(x.project)
		if len(found) != 1 {
			t.Fatalf("%s: %v", name, found)
		}
		if got := strings.Join(found[0].TestFiles(x.project), " "); got != x.want {
			t.Errorf("%s: got %s, want %s", name, got, x.want)
		}
	}
}

// What init protects holds for files in any directory, and for such that are not there.
func TestConfigurationOfTestsIsProtectedAnywhere(t *testing.T) {
	for name, x := range map[string]struct {
		project fstest.MapFS
		in, out string
	}{
		"Python":   {files("pytest.ini", "tests/test_a.py"), "conftest.py tests/conftest.py a/b/conftest.py pytest.ini tox.ini setup.cfg pyproject.toml sitecustomize.py src/sitecustomize.py pytest/__init__.py", "shop/cart.py tests/test_new.py"},
		"Node":     {files(script), "jest.config.ts web/jest.config.js web/vitest.config.mts .mocharc.cjs web/.mocharc.yml .npmrc .yarnrc.yml vite.config.ts", "src/config.ts web/a.test.ts"},
		"Cargo":    {files("Cargo.toml"), "build.rs crates/a/build.rs crates/a/Cargo.toml .cargo/config.toml", "src/lib.rs Cargo.lock"},
		"Maven":    {files("pom.xml"), "core/pom.xml pom.xml .mvn/maven.config", "src/main/A.java"},
		"Gradle":   {files("build.gradle"), "core/build.gradle.kts settings.gradle gradle.properties core/gradle.properties", "src/main/A.java"},
		"Go":       {files("go.mod"), "go.mod go.work", "a_test.go"},
		"unittest": {files("setup.py", "tests/test_a.py", "tests/__init__.py"), "unittest/__init__.py sub/conftest.py", "tests/test_b.py"},
	} {
		found := DetectTests(x.project)
		if len(found) != 1 {
			t.Fatalf("%s: %v", name, found)
		}
		protect := slices.Concat(found[0].Protect, found[0].Instead)
		for p := range strings.FieldsSeq(x.in) {
			if !glob.MatchAny(protect, p) {
				t.Errorf("%s: %s is not protected by %q", name, p, protect)
			}
		}
		for p := range strings.FieldsSeq(x.out) {
			if glob.MatchAny(protect, p) {
				t.Errorf("%s: %s is protected by %q", name, p, protect)
			}
		}
	}
}

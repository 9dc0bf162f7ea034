package policies

import "io/fs"

// TestCommand is how a project's own tests are run.
type TestCommand struct {
	Language string // Rust, Python, …
	File     string // what it was recognised by
	Command  string
}

// testFiles lists, in order, what a project is recognised by; the first that
// exists at its root decides.
var testFiles = []TestCommand{
	{"Rust", "Cargo.toml", "cargo test"},
	{"Python", "pyproject.toml", "python -m pytest"},
	{"Python", "setup.py", "python -m pytest"},
	{"Python", "setup.cfg", "python -m pytest"},
	{"Python", "pytest.ini", "python -m pytest"},
	{"Python", "tox.ini", "python -m pytest"},
	{"Python", "requirements.txt", "python -m pytest"},
	{"Node", "package.json", "npm test"},
	{"Go", "go.mod", "go test ./..."},
	{"Gradle", "build.gradle", "./gradlew test"},
	{"Gradle", "build.gradle.kts", "./gradlew test"},
	{"Gradle", "settings.gradle", "./gradlew test"},
	{"Gradle", "settings.gradle.kts", "./gradlew test"},
	{"Maven", "pom.xml", "mvn test"},
}

// DetectTests looks for the test framework of a project: Rust, Python, Node, Go,
// Gradle, Maven, in this order. A nil project has none.
func DetectTests(project fs.FS) (TestCommand, bool) {
	if project == nil {
		return TestCommand{}, false
	}
	for _, t := range testFiles {
		if st, err := fs.Stat(project, t.File); err == nil && st.Mode().IsRegular() {
			return t, true
		}
	}
	return TestCommand{}, false
}

package workspace

import "testing"

func TestWhatLooksLikeGit(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".Git": true, ".GIT": true, "git~1": true, "GIT~1": true, ".git ": true, ".git. .": true, ".git::$INDEX_ALLOCATION": true,
		".g\u200cit": true, `.git\x`: true, "git": false, ".gitignore": false, ".github": false, "x.git": false, "git~2": false, ".git-x": false,
	} {
		if got := looksLikeGit(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestWhatGitRefuses(t *testing.T) {
	for stderr, want := range map[string]string{
		"error: invalid path 'a/.Git/hooks/x'\nfatal: adding files failed\n":                    "a/.Git",
		"error: invalid path 'a/odd'\nfatal: adding files failed\n":                             "a/odd",
		"fatal: BOM is required in 'a.txt' if encoded as UTF-16\n":                              "a.txt",
		"fatal: failed to encode 'b c.txt' from UTF-16 to UTF-8\n":                              "b c.txt",
		"fatal: encoding 'd.txt' from SHIFT-JIS to UTF-8 and back is not the same\n":            "d.txt",
		"fatal: Unable to create '/x/index.lock': File exists.\n":                               "",
		"hint: failed to encode 'b.txt' from UTF-16 to UTF-8\nerror: something else altogether": "",
	} {
		if got, _ := unfit(&gitError{[]string{"add"}, 128, stderr}); got != want {
			t.Errorf("%q: %q, want %q", stderr, got, want)
		}
	}
}

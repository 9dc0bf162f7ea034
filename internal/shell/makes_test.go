package shell

import (
	"strings"
	"testing"
)

func TestFilesThatALineMakes(t *testing.T) { // execution §5, preflight
	for line, want := range map[string]string{
		"printf true > app; chmod +x app; ./app; rm app":       "app",
		"go build -o app . && ./app":                           "app",
		"cat > run.sh <<X\necho hi\nX\nsh run.sh":              "run.sh",
		"cp a run.sh && sh run.sh":                             "run.sh",
		"curl -o run.sh https://host/x && sh run.sh":           "run.sh",
		"tar xf t.tar && sh run.sh":                            "run.sh",
		"make && dist/t.sh":                                    "dist/t.sh",
		"tsc && node dist/t":                                   "dist/t",
		"sh build.sh && ./app":                                 "app",
		"echo x > log.txt; sh run.sh":                          "",
		"echo x > $LOG; sh run.sh":                             "run.sh",
		"go vet ./... && sh run.sh":                            "",
		"npm ci && sh run.sh":                                  "",
		"shellcheck run.sh && sh run.sh":                       "",
		"chmod +x run.sh && ./run.sh":                          "",
		"grep -q . a.txt 2>/dev/null && sh run.sh":             "",
		". .venv/bin/activate && sh run.sh":                    "",
		"sh run.sh && make && sh run.sh":                       "",
		"if a; then make; fi; sh run.sh":                       "run.sh",
		"if [ -n \"$A\" ]; then make; else sh run.sh; fi":      "",
		"cd d && go test ./... && sh ./run.sh":                 "",
		"cd d && printf true > run.sh && sh run.sh && sh x.sh": "d/run.sh d/x.sh",
	} {
		var got []string
		for _, f := range Files(line) {
			if f.Program && f.Made {
				got = append(got, f.Path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: makes %q, want %q", line, got, want)
		}
	}
}

func TestWhatALineMayWrite(t *testing.T) { // execution §5, preflight
	for line, want := range map[string]string{
		"printf true > gen.sh":                  "gen.sh",
		"cp a.tmpl gen.sh && chmod +x b.sh":     "a.tmpl gen.sh",
		"cd d && tar xf /t.tar --directory=out": "d/xf d/out",
		"sh setup.sh x":                         "x",
		"sh setup.sh":                           "",
		"cat gen.sh > /dev/null":                "",
	} {
		if got := strings.Join(Makes(line), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOutcomesAreBounded(t *testing.T) {
	for name, b := range map[string]string{
		"too long":           strings.Repeat(" ", maxOutcome) + `{"result":"success"}`,
		"deeply nested":      `{"result":` + strings.Repeat("[", 100_000),
		"not UTF-8":          "{\"result\":\"success\",\"summary\":\"\xff\"}",
		"prose around it":    `Here you are: {"result":"success"}`,
		"two objects":        `{"result":"success"}{"result":"failed"}`,
		"a list":             `[]`,
		"another action":     `{"result":"success","next_action":"rm"}`,
		"a number as result": `{"result":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), "o")
			if err := os.WriteFile(p, []byte(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if o, _ := ReadOutcome(p); o.Invalid == "" || len(o.Invalid) > 300 {
				t.Errorf("got %+v", o)
			}
		})
	}
}

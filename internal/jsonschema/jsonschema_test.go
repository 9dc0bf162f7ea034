package jsonschema

import (
	"strings"
	"testing"
)

const verdict = `{"type":"object","properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"}},"required":["status","message"]}`

// S0-54
func TestValidateNamesThePlace(t *testing.T) {
	s, err := Compile([]byte(verdict))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ in, want string }{
		"a full verdict fits":              {`{"status":"pass","message":"ok"}`, ""},
		"a wrong word is named with place": {`{"status":"maybe","message":"x"}`, "/status: "},
		"a missing field is named":         {`{"status":"pass"}`, "message"},
		"what is not JSON is no verdict":   {`pass`, "not valid JSON"},
	} {
		got := s.Validate([]byte(c.in))
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %v", name, got)
		case c.want != "" && (len(got) == 0 || !strings.Contains(got[0].String(), c.want)):
			t.Errorf("%s: got %v, want %q", name, got, c.want)
		}
	}
}

func TestCompileRefusesWhatIsNoSchema(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a wrong type word":       {`{"type":"objekt"}`, "not a valid JSON Schema"},
		"half a document":         {`{"type":`, "not valid JSON"},
		"a file outside":          {`{"$ref":"file:///etc/passwd"}`, "outside the schema"},
		"a schema on the network": {`{"$ref":"http://127.0.0.1/x.json"}`, "outside the schema"},
	} {
		_, err := Compile([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestDraft07IsRead(t *testing.T) {
	s, err := Compile([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"integer"}},"$ref":"#/definitions/a"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Validate([]byte(`"x"`)); len(got) == 0 {
		t.Error("a string passed for an integer")
	}
}

package jsonschema

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"
)

type written struct {
	Version int             `json:"version"`
	Name    string          `json:"name"`
	At      *time.Time      `json:"at"`
	From    netip.Addr      `json:"from"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Counts  map[string]int  `json:"counts"`
	Inner   []inner         `json:"inner,omitempty"`
}

type inner struct {
	N int `json:"n"`
}

// What a type is written as fits its schema, with nothing in it and with all; what is
// not written so does not.
func TestOfFitsWhatIsWritten(t *testing.T) {
	raw, err := Of[written]("a title", "about it", 3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, v := range []written{
		{Version: 3},
		{Version: 3, Name: "n", At: &now, From: netip.MustParseAddr("::1"), Raw: json.RawMessage(`[1]`), Counts: map[string]int{"a": 1}, Inner: []inner{{1}}},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if found := s.Validate(b); len(found) > 0 {
			t.Errorf("%s: %v", b, found)
		}
	}
	const rest = `"name":"n","at":null,"from":"","counts":null`
	for text, fits := range map[string]bool{
		`{"version":3,` + rest + `,"later":1}`:             true, // fields are added
		`{"version":2,` + rest + `}`:                       false,
		`{` + rest + `}`:                                   false,
		`{"version":3,` + rest + `,"inner":[{"n":"one"}]}`: false,
		`{"version":3,` + rest + `,"inner":[{}]}`:          false,
		`{"version":3,` + strings.Replace(rest, `"counts":null`, `"counts":{"a":"b"}`, 1) + `}`: false,
	} {
		if found := s.Validate([]byte(text)); (len(found) == 0) != fits {
			t.Errorf("%s: %v; fits: %t", text, found, fits)
		}
	}
	for _, want := range []string{`"title": "a title"`, `"description": "about it"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
}

func TestOfRefusesWhatItCannotKnow(t *testing.T) {
	if _, err := Of[struct{ N *big.Int }]("", "", 0); err == nil || !strings.Contains(err.Error(), "writes itself") {
		t.Errorf("a type that writes itself: %v", err)
	}
	if _, err := Of[inner]("", "", 1); err == nil || !strings.Contains(err.Error(), "no field version") {
		t.Errorf("a version without a field for it: %v", err)
	}
}

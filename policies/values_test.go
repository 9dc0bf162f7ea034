package policies

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]string{
		"20m": "1200000", "90s": "90000", "1h30m": "5400000", "2d": "172800000", " 5s ": "5000", "0s": "0", "1.5h": "5400000", "5ms": "5",
		"": "!", "20": "!", "-5m": "!", "1ns": "!", "99999999h": "!", "soon": "!", "1e9d": "!", "NaNd": "!",
	} {
		ms, err := ParseDuration(in)
		got := fmt.Sprint(ms)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s (%v)", in, got, want, err)
		}
	}
}

func TestParseUSD(t *testing.T) {
	for in, want := range map[string]string{
		"2.50": "2500000", "$20": "20000000", "0.000001": "1", "3 USD": "3000000", "0": "0", "0.1": "100000",
		"": "!", "-1": "!", "1e9": "!", "many": "!", "99999999999": "!", "0x10": "!", "Inf": "!",
	} {
		n, err := ParseUSD(in)
		got := fmt.Sprint(n)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s (%v)", in, got, want, err)
		}
	}
}

// S4-26
func TestParseApproval(t *testing.T) {
	for in, want := range map[string]string{
		"required from @a, @b within 48h": "true [a b] 172800000",
		"required":                        "true [] 0",
		"Required by @ada":                "true [ada] 0",
		"none":                            "false [] 0",
		"@a and @b":                       "true [a b] 0",
		"`ada`":                           "true [ada] 0",
		"required within 2d":              "true [] 172800000",
		"required from the whole team":    "!",
		"required within soon":            "!",
		"required from ada":               "true [ada] 0",
		"N/A":                             "false [] 0",
		"n/a.":                            "false [] 0",
		"Nothing":                         "false [] 0",
		"[]":                              "false [] 0",
		"TBD":                             "!",
		"pending":                         "!",
		"optional":                        "!",
		"automatic":                       "!",
		"skip":                            "!",
		"done":                            "!",
		"approved":                        "!",
		"unnecessary":                     "!",
		"Not needed":                      "!",
		"✅":                               "!",
		"@":                               "!",
		"ada":                             "!",
		"@ada, pending":                   "!",
		"required pending":                "!",
		"required from TBD":               "!",
		"required from N/A":               "!",
	} {
		a, err := ParseApproval(in)
		got := fmt.Sprint(a.Required, a.Approvers, a.WithinMS)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s (%v)", in, got, want, err)
		}
	}
}

// S0-54, S0-144, S0-145, K7, K15
func TestCheckOutput(t *testing.T) {
	ok := `"message":{"type":"string"}},"required":["status","message"]}`
	for _, x := range []struct {
		name, schema, want string
	}{
		{"the seed's schema", `{"type":"object","properties":{"status":{"type":"string","enum":["pass","fail","stop"]},"details":{"type":"object"},` + ok, ""},
		{"draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"status":{"enum":["stop","pass","fail"]},` + ok, ""},
		{"another word too many", `{"properties":{"status":{"enum":["pass","fail","stop","maybe"]},` + ok, "gate-output"},
		{"status is missing", `{"properties":{` + ok, "gate-output"},
		{"status is not required", `{"properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"}},"required":["message"]}`, "gate-output"},
		{"message is a number", `{"properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"number"}},"required":["status","message"]}`, "gate-output"},
		{"no schema", `{"type":"objekt"}`, "gate-schema"},
		{"no JSON", `{`, "gate-schema"},
		{"a schema from elsewhere", `{"$ref":"https://example.org/x.json"}`, "gate-schema"},
	} {
		t.Run(x.name, func(t *testing.T) {
			raw, diags := CheckOutput([]byte(x.schema), noRange)
			got := ""
			if len(diags) > 0 {
				got = string(diags[0].Code)
			}
			if got != x.want {
				t.Errorf("got %q, want %q: %+v", got, x.want, diags)
			}
			if x.want == "" && !strings.Contains(string(raw), `"properties"`) {
				t.Errorf("no fields: %s", raw)
			}
		})
	}
	if _, diags := CheckOutput(DefaultOutput, noRange); len(diags) > 0 {
		t.Errorf("the default output is refused: %v", diags)
	}
}

// Number literals of an embedded schema stay as they were written.
func TestSchemaKeepsNumbers(t *testing.T) {
	raw, diags := CheckOutput([]byte(`{"properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"},"n":{"maximum":1.50}},"required":["status","message"]}`), noRange)
	if len(diags) > 0 || !strings.Contains(string(raw), "1.50") {
		t.Errorf("got %s %v", raw, diags)
	}
}

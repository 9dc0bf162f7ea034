package policies

import (
	"strings"
	"testing"
)

// The network list takes hosts by name. What is no host is refused with what to write
// instead: a list that silently meant something else would be a hole, or a build that
// fails without a reason.
func TestHostsOfASandbox(t *testing.T) {
	for in, want := range map[string]string{
		"model": "", "*": "", "example.com": "", "Example.COM": "", "*.example.com": "", "example.com:8443": "", "*.example.com:443": "",
		"registry": "", "registry:5000": "", "xn--bcher-kva.example": "", "a_b.example.com": "", "model.example.com": "", "4chan.example": "", "models.example.com": "",
		"":                                    "write [] to reach none",
		"none":                                "write [] to reach none",
		"ALL":                                 `write ["*"]`,
		"https://example.com":                 `URL; write the host alone: "example.com"`,
		"http://u:p@example.com:81/x/y":       `write the host alone: "example.com:81"`,
		"example.com/path":                    `write the host alone: "example.com"`,
		"ann@example.com":                     `write the host alone: "example.com"`,
		"10.0.0.1":                            "is an address",
		"10.0.0.1:80":                         "is an address",
		"::1":                                 "is an address",
		"[::1]:80":                            "is an address",
		"2130706433":                          "is an address",
		"0x7f.1":                              "is an address",
		"0x7f000001":                          "is an address",
		"127.1":                               `services = ["127.0.0.1:5432"]`,
		"localhost":                           `services = ["127.0.0.1:5432"]`,
		"LOCALHOST:8080":                      `services = ["127.0.0.1:5432"]`,
		"a.localhost":                         "is this machine",
		"modle":                               `almost "model"`,
		"models":                              `almost "model"`,
		"example.com:":                        "a port from 1 to 65535",
		"example.com:0":                       "a port from 1 to 65535",
		"example.com:65536":                   "a port from 1 to 65535",
		"example.com:http":                    "a port from 1 to 65535",
		"example.com:+80":                     "a port from 1 to 65535",
		"*.*.example.com":                     "a star stands for the first words",
		"a.*.example.com":                     "a star stands for the first words",
		"*example.com":                        "a star stands for the first words",
		"*.":                                  "is not the name of a host",
		"*:443":                               "a star stands for the first words",
		".example.com":                        "is not the name of a host",
		"example.com.":                        "is not the name of a host",
		"a..b":                                "is not the name of a host",
		"-a.example":                          "is not the name of a host",
		"a b":                                 "is not the name of a host",
		"a\x00b":                              "is not the name of a host",
		"a,b":                                 "is not the name of a host",
		"bücher.example":                      "xn--",
		strings.Repeat("a", 64) + ".de":       "is not the name of a host",
		strings.Repeat("a.", 127) + "example": "is not the name of a host",
	} {
		checked(t, in, checkHost(in), want)
	}
}

func TestServicesOfASandbox(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:5432": "", "[::1]:5432": "", "127.0.0.2:80": "",
		"localhost:5432":         `write "127.0.0.1:5432"`,
		"127.0.0.1":              "has no port",
		"127.0.0.1:0":            "is not the address",
		"10.0.0.1:5432":          "is not on this machine",
		"0.0.0.0:5432":           "is not on this machine",
		"[::ffff:127.0.0.1]:80":  "is not on this machine",
		"db.example.com:5432":    "is not the address",
		"/run/postgresql/socket": "is not the address",
		"":                       "is not the address",
	} {
		checked(t, in, checkService(in), want)
	}
}

func TestPathsOfASandbox(t *testing.T) {
	for in, want := range map[string]string{
		"/opt": "", "/opt/": "", "~/.npm": "", "~/a b": "", "/opt/a..b": "",
		"":             "is relative",
		".":            "is relative",
		"build":        "is relative",
		"/":            "is everything",
		"~":            "is everything",
		"~/":           "is everything",
		"~ann/x":       "home directory of another",
		"$HOME/.npm":   `write "~/.npm"`,
		"/opt/../etc":  "takes a roundabout way",
		"/opt//x":      "takes a roundabout way",
		"//opt":        "takes a roundabout way",
		"/./opt":       "takes a roundabout way",
		"~/../x":       "takes a roundabout way",
		"~//x":         "takes a roundabout way",
		"/opt/*":       "is a pattern",
		"~/[ab]":       "is a pattern",
		"/opt\n/x":     "control character",
		"/opt/\x00":    "control character",
		"C:\\Users\\x": "is relative",
	} {
		checked(t, in, checkPlace(in), want)
	}
}

func TestLimitsOfASandbox(t *testing.T) {
	for _, c := range []struct{ name, text, kind, value, says string }{
		{"memory", "4GB", "auto", "4000000000", ""},
		{"memory", " 512 MiB ", "auto", "536870912", ""},
		{"memory", "4", "auto", "", "4 bytes are too few"},
		{"memory", "lots", "auto", "", "a number with a unit"},
		{"tmp", "2000000", "auto", "2000000", ""},
		{"file", "-1GB", "auto", "", "a number with a unit"},
		{"cpu", "50%", "auto", "50", ""},
		{"cpu", "2", "auto", "", `"200%" for two`},
		{"cpu", "0%", "auto", "", `"200%" for two`},
		{"cpu", "1.5%", "auto", "", `"200%" for two`},
		{"pids", "512", "auto", "512", ""},
		{"pids", "0", "auto", "", "a number of processes"},
		{"pids", "1e3", "auto", "", "a number of processes"},
		{"image", "golang", "container", "golang", ""},
		{"image", "golang", "bwrap", "", "of kind container"},
		{"image", " ", "container", "", "of kind container"},
	} {
		got, err := limit(c.name, c.text, c.kind)
		if checked(t, c.name+" = "+c.text, err, c.says); err == nil && got != c.value {
			t.Errorf("%s = %q: %s, want %s", c.name, c.text, got, c.value)
		}
	}
}

// checked compares an error with words that it must have; "" is none.
func checked(t *testing.T, in string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%q: %v, want %q", in, err, want)
	}
}

package egress

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	l, err := readRules(Rules{
		Hosts:   []string{"allowed.example", "*.Below.example.", "db.example:5432", "*.db.example:5433", "both.example", "both.example:8443"},
		Private: []string{"127.0.0.1:8080", "[::1]:8080", "Model.lan:8000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		asked string
		port  uint16
		want  string // "" is refused
	}{
		{"allowed.example:443", 0, "allowed.example:443"},
		{"allowed.example", 80, "allowed.example:80"},
		{"ALLOWED.Example.:443", 0, "allowed.example:443"},
		{"a.below.example:443", 0, "a.below.example:443"},
		{"a.b.below.example:80", 0, "a.b.below.example:80"},
		{"db.example:5432", 0, "db.example:5432"},
		{"a.db.example:5433", 0, "a.db.example:5433"},
		{"both.example:8443", 0, "both.example:8443"},
		{"both.example:443", 0, "both.example:443"},
		{"127.0.0.1:8080", 0, "127.0.0.1:8080"},
		{"[::1]:8080", 0, "[::1]:8080"},
		{"MODEL.lan.:8000", 0, "model.lan:8000"},

		{"", 0, ""},
		{"", 80, ""},
		{":443", 0, ""},
		{".:443", 0, ""},
		{"allowed.example", 0, ""},
		{"allowed.example:", 0, ""},
		{"allowed.example:22", 0, ""},
		{"allowed.example:0", 0, ""},
		{"allowed.example:65979", 0, ""}, // 443 in 16 bits
		{"allowed.example:+443", 0, ""},
		{"allowed.example:443:443", 0, ""},
		{"allowed.example:443/x", 0, ""},
		{"allowed.example..:443", 0, ""},
		{".allowed.example:443", 0, ""},
		{"xallowed.example:443", 0, ""},
		{"allowed.example.evil.example:443", 0, ""},
		{"below.example:443", 0, ""},
		{"xbelow.example:443", 0, ""},
		{"db.example:443", 0, ""},
		{"evil.example\x00allowed.example:443", 0, ""},
		{"evil.example\x00.below.example:443", 0, ""},
		{"allowed.example\x00:443", 0, ""},
		{"evil.example/.below.example:443", 0, ""},
		{"evil.example#.below.example:443", 0, ""},
		{"evil.example\\.below.example:443", 0, ""},
		{"evil.example?.below.example:443", 0, ""},
		{"evil.example .below.example:443", 0, ""},
		{"evil.example\r\n.below.example:443", 0, ""},
		{"evil.example%2f.below.example:443", 0, ""},
		{"allowed.example@evil.example:443", 0, ""},
		{"evil.example@allowed.example:443", 0, ""},
		{"allowed.example:443@evil.example:443", 0, ""},
		{"а.below.example:443", 0, ""}, // Cyrillic
		{"allowed。example:443", 0, ""},
		{strings.Repeat("a.", 200) + "below.example:443", 0, ""},
		{strings.Repeat("a", 64) + ".below.example:443", 0, ""},
		{"127.0.0.1:443", 0, ""},
		{"127.0.0.1:8081", 0, ""},
		{"127.0.0.1.:8080", 0, ""},
		{"0177.0.0.1:8080", 0, ""},
		{"2130706433:8080", 0, ""},
		{"0x7f000001:8080", 0, ""},
		{"0x7F.1:8080", 0, ""},
		{"127.1:8080", 0, ""},
		{"[::ffff:127.0.0.1]:8080", 0, ""},
		{"[0:0:0:0:0:0:0:1]:8080", 0, ""},
		{"[::1%25lo]:8080", 0, ""},
		{"[::1%lo]:8080", 0, ""},
		{"[::1]", 0, ""},
		{"[::1:8080", 0, ""},
		{"::1:8080", 0, ""},
		{"[127.0.0.1]:8080", 0, ""},
		{"[allowed.example]:443", 0, ""},
		{"model.lan:443", 0, ""},
		{"localhost:443", 0, ""},
	} {
		got, err := l.judge(c.asked, c.port)
		if _, refused := errors.AsType[*Refusal](err); c.want == "" && !refused || c.want != "" && (err != nil || got.String() != c.want) {
			t.Errorf("judge(%q) = %v, %v; want %q", c.asked, got, err, c.want)
		}
	}
}

func TestAStarIsEveryPublicName(t *testing.T) {
	l, err := readRules(Rules{Hosts: []string{"*", "*:8443", "localhost", "a.localhost:9"}})
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]bool{
		"example.com:443": true, "example.com:80": true, "example.com:8443": true,
		"example.com:22": false, "10.0.0.1:443": false, "93.184.216.34:443": false, "[2606:4700::1]:443": false, "1.1:443": false,
		"intranet:443": false, "localhost:443": false, "x.localhost:443": false, "printer.local:80": false,
		"metadata.google.internal:80": false, "a.localhost:9": false,
	} {
		if _, err := l.judge(asked, 0); (err == nil) != want {
			t.Errorf("%s: %v", asked, err)
		}
	}
}

func TestRefusalsSayWhatToWrite(t *testing.T) {
	var l list
	for asked, want := range map[string]string{
		"Github.com:443":   `ralph's sandbox does not let programs reach github.com:443: it is not in the list (network = ["github.com"])`,
		"github.com:22":    `ralph's sandbox does not let programs reach github.com:22: it is not in the list (network = ["github.com:22"])`,
		"127.0.0.1:80":     `ralph's sandbox does not let programs reach 127.0.0.1:80: it is an address, and only names can be listed`,
		"a\x1b[2Jb.com:80": `ralph's sandbox does not let programs reach "a\x1b[2Jb.com:80": it is not a host's name`,
	} {
		if _, err := l.judge(asked, 0); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", asked, err, want)
		}
	}
	if _, err := l.judge(strings.Repeat("x", 10_000), 80); len(err.Error()) > 500 {
		t.Errorf("%d bytes are told of a long name", len(err.Error()))
	}
}

func TestMalformedRules(t *testing.T) {
	for _, r := range []Rules{
		{Hosts: []string{""}},
		{Hosts: []string{"*."}},
		{Hosts: []string{"**"}},
		{Hosts: []string{"*example.com"}},
		{Hosts: []string{"a.*.com"}},
		{Hosts: []string{"https://example.com"}},
		{Hosts: []string{"example.com/x"}},
		{Hosts: []string{"example.com:"}},
		{Hosts: []string{"example.com:x"}},
		{Hosts: []string{"example.com:0"}},
		{Hosts: []string{"example.com:70000"}},
		{Hosts: []string{"10.0.0.1"}},
		{Hosts: []string{"10.0.0.1:80"}},
		{Hosts: []string{"[::1]:80"}},
		{Hosts: []string{"::1"}},
		{Hosts: []string{"*.0.0.1"}},
		{Hosts: []string{"user@example.com"}},
		{Hosts: []string{"10.0.0.1:81"}, Private: []string{"10.0.0.1:80"}},
		{Private: []string{"example.com"}},
		{Private: []string{"*.example.com:80"}},
		{Private: []string{"0177.0.0.1:80"}},
		{Private: []string{"[fe80::1%eth0]:80"}},
		{Private: []string{"[::FFFF:1.2.3.4]:80"}},
		{Private: []string{"*:80"}},
	} {
		if _, err := New(r); err == nil {
			t.Errorf("accepted: %q %q", r.Hosts, r.Private)
		}
	}
	p, err := New(Rules{Hosts: []string{"10.0.0.1:80", "a_b.example"}, Private: []string{"10.0.0.1:80"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Close()
}

func TestPublicAddresses(t *testing.T) {
	for s, want := range map[string]bool{
		"93.184.216.34": true, "::ffff:93.184.216.34": true, "2606:4700::6810:84e5": true, "2001:4860:4860::8888": true,
		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.9.9.9": false, "10.1.1.1": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "100.127.255.255": false, "192.0.0.192": false, "198.18.0.1": false,
		"224.0.0.1": false, "239.255.255.250": false, "240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false, "192.88.99.1": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "fe80::1": false, "fec0::1": false,
		"fc00::1": false, "fd00:ec2::254": false, "ff02::1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::a00:1": false, "2002:7f00:1::1": false,
		"2001:0:7f00:1::1": false, "2001:db8::1": false, "100::1": false, "3fff::1": false, "2606:4700::1%eth0": false,
	} {
		if public(netip.MustParseAddr(s)) != want {
			t.Errorf("public(%s) = %v", s, !want)
		}
	}
	for s, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "10.0.0.1": true, "100.64.0.1": true, "fd00::1": true, "::ffff:127.0.0.1": true,
		"169.254.169.254": false, "fe80::1": false, "0.0.0.0": false, "224.0.0.1": false, "64:ff9b::7f00:1": false,
	} {
		if private(netip.MustParseAddr(s)) != want {
			t.Errorf("private(%s) = %v", s, !want)
		}
	}
}

// FuzzJudge: what is let through is a plain name that was listed, or exactly what is private.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"allowed.example:443", "a.below.example:80", "127.0.0.1:8080", "[::1]:8080", "x@y:443", "0x7f.1:443", "A.:1"} {
		f.Add(s, uint16(80))
	}
	l, err := readRules(Rules{Hosts: []string{"allowed.example", "*.below.example:80"}, Private: []string{"127.0.0.1:8080"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, asked string, port uint16) {
		got, err := l.judge(asked, port)
		if err != nil {
			if _, ok := errors.AsType[*Refusal](err); !ok {
				t.Errorf("%T is not a refusal", err)
			}
			return
		}
		s := got.String()
		if again, err := l.judge(s, 0); err != nil || again != got {
			t.Errorf("%q is %v first, then %v, %v", asked, got, again, err)
		}
		below := strings.HasSuffix(s, ".below.example:80") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") == ""
		if s != "allowed.example:80" && s != "allowed.example:443" && s != "127.0.0.1:8080" && !below {
			t.Errorf("%q passes as %q", asked, s)
		}
	})
}

func TestEntryIsWhatAListWouldHaveToName(t *testing.T) {
	for refused, want := range map[string]string{
		"evil.example:443": "evil.example", "evil.example:80": "evil.example", "db.example:5432": "db.example:5432",
		"93.184.216.34:443": "", "[2001:db8::1]:443": "", "127.1:80": "", "localhost:8080": "", "evil.example": "", `"a b":443`: "", "": "",
	} {
		got := Entry(refused)
		if got != want {
			t.Errorf("%s: got %q, want %q", refused, got, want)
		}
		if got == "" {
			continue
		}
		l, err := readRules(Rules{Hosts: []string{got}})
		if err == nil {
			_, err = l.judge(refused, 0)
		}
		if err != nil {
			t.Errorf("%s: a list of %q does not allow it: %v", refused, got, err)
		}
	}
}

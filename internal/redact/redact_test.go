package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const (
	token  = "hunter2/with+odd&chars=\"quoted\""
	manyLn = "first line of a key 0001\nsecond line of a key 0002\n"
)

var lowerEscapes = regexp.MustCompile(`%..`)

func both(t *testing.T) *Redactor {
	t.Helper()
	r, short := New(map[string]string{"TOKEN": token, "KEY": manyLn, "PIN": "1234", "EMPTY": ""})
	if len(short) != 1 || short[0] != "PIN" {
		t.Fatalf("too short: %v", short)
	}
	return r
}

// written lists how programs write a value.
func written(v string) map[string]string {
	asJSON, _ := json.Marshal(map[string]string{"k": "a" + v + "b"})
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + v + "!"))
	return map[string]string{
		"as it is":              "x " + v + " y",
		"in JSON":               string(asJSON),
		"in a URL's query":      "https://h/?t=" + url.QueryEscape(v) + "&x=1",
		"in a URL's path":       "https://h/" + url.PathEscape(v) + "/x",
		"in lower-case escapes": "h?" + lowerEscapes.ReplaceAllStringFunc(url.QueryEscape("%%%"+v), strings.ToLower),
		"in base64":             base64.StdEncoding.EncodeToString([]byte(v)),
		"in base64 for URLs":    base64.URLEncoding.EncodeToString([]byte(v)),
		"inside other base64":   basic,
		"one byte later":        base64.StdEncoding.EncodeToString([]byte("u" + v)),
		"two bytes later":       base64.StdEncoding.EncodeToString([]byte("us" + v)),
		"in hexadecimal":        hex.EncodeToString([]byte(v)),
	}
}

// leaks reports whether a text lets somebody read a value back.
func leaks(text, v string) bool {
	if strings.Contains(text, v) {
		return true
	}
	var m map[string]string
	if json.Unmarshal([]byte(text), &m) == nil && strings.Contains(m["k"], v) {
		return true
	}
	if u, err := url.QueryUnescape(text); err == nil && strings.Contains(u, v) {
		return true
	}
	if u, err := url.PathUnescape(text); err == nil && strings.Contains(u, v) {
		return true
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		if b, err := e.DecodeString(text); err == nil && strings.Contains(string(b), v) {
			return true
		}
	}
	b, err := hex.DecodeString(text)
	return err == nil && strings.Contains(string(b), v)
}

func TestAValueIsTakenOutInEveryFormInWhichProgramsWriteIt(t *testing.T) {
	r := both(t)
	for _, v := range []string{token, manyLn} {
		for how, text := range written(v) {
			if !leaks(text, v) {
				t.Fatalf("%s: the test cannot read %q back from %q", how, v, text)
			}
			got := r.String(text)
			if leaks(got, v) || !strings.Contains(got, "[secret ") {
				t.Errorf("%s: %q became %q", how, text, got)
			}
			if again := r.String(got); again != got {
				t.Errorf("%s: a second time changes it: %q became %q", how, got, again)
			}
		}
	}
	if got := r.String("log: second line of a key 0002"); strings.Contains(got, "0002") {
		t.Errorf("a line of a long value stays: %q", got)
	}
}

// Forms that nothing here reads back.
func TestAValueIsTakenOutInFormsOfOtherLanguages(t *testing.T) {
	const v = `pa/ss w<o>r&d"it's`
	r, _ := New(map[string]string{"V": v})
	for how, text := range map[string]string{
		"Python's quote":          "pa/ss%20w%3Co%3Er%26d%22it%27s",
		"quote with nothing safe": "pa%2Fss%20w%3Co%3Er%26d%22it%27s",
		"quote_plus":              "pa%2Fss+w%3Co%3Er%26d%22it%27s",
		"in lower case":           "pa%2fss%20w%3co%3er%26d%22it%27s",
		"encodeURIComponent":      "pa%2Fss%20w%3Co%3Er%26d%22it's",
		"encodeURI":               "pa/ss%20w%3Co%3Er&d%22it's",
		"twice":                   "pa%252Fss%2520w%253Co%253Er%2526d%2522it%2527s",
		"every byte":              "%70%61%2F%73%73%20%77%3C%6F%3E%72%26%64%22%69%74%27%73",
		"HTML of Go":              "pa/ss w&lt;o&gt;r&amp;d&#34;it&#39;s",
		"HTML of Python":          "pa/ss w&lt;o&gt;r&amp;d&quot;it&#x27;s",
		"HTML of PHP":             "pa/ss w&lt;o&gt;r&amp;d&quot;it&#039;s",
		"XML":                     "pa/ss w&lt;o&gt;r&amp;d&quot;it&apos;s",
		"JSON in JSON":            `pa/ss w<o>r&d\\\"it's`,
		"JSON with its slashes":   `pa\/ss w<o>r&d\"it's`,
	} {
		if got := r.String("x " + text + " y"); got != "x [secret V] y" {
			t.Errorf("%s: %q became %q", how, text, got)
		}
		if n, err := r.Count(strings.NewReader(strings.Repeat("x", 70_000) + text + strings.Repeat("y", 70_000) + text)); err != nil || n["V"] < 2 {
			t.Errorf("%s: counted %v, %v", how, n, err)
		}
	}
	if n, err := r.Count(strings.NewReader(strings.Repeat("nothing ", 50_000))); err != nil || len(n) > 0 {
		t.Errorf("counted %v, %v", n, err)
	}
}

func TestWhatHasTheShapeOfASecretIsTakenOut(t *testing.T) {
	run := strings.Repeat("aB3dE6gH9", 9)
	for name, secret := range map[string]string{
		"Anthropic":  "sk-ant-api03-" + run[:40],
		"OpenAI":     "sk-proj-" + run[:48],
		"GitHub":     "ghp_" + run[:36],
		"fine":       "github_pat_" + run[:60],
		"GitLab":     "glpat-" + run[:20],
		"AWS":        "AKIAIOSFODNN7EXAMPLE",
		"Google":     "AIza" + run[:35],
		"Slack":      "xoxb-1234567890-abcdefghij",
		"npm":        "npm_" + run[:36],
		"web token":  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
		"Stripe":     "sk_live_" + run[:24],
		"bearer":     "Authorization: Bearer " + run[:30],
		"a URL":      "postgres://ann:s3cretpw@db.example/x",
		"key file":   "-----BEGIN OPENSSH PRIVATE KEY-----\n" + run + "\n" + run + "\n-----END OPENSSH PRIVATE KEY-----",
		"key, JSON":  `"-----BEGIN PRIVATE KEY-----\n` + run + `\n-----END PRIVATE KEY-----\n"`,
		"basic auth": "Authorization: Basic YW5uOnMzY3JldHB3",
	} {
		text := "before " + secret + " after\n"
		var r Redactor
		got := r.String(text)
		if strings.Contains(got, secret[len(secret)-12:]) && name != "a URL" || strings.Contains(got, "s3cretpw") || !strings.Contains(got, "[secret: ") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after\n") {
			t.Errorf("%s: %q became %q", name, text, got)
		}
		if again := r.String(got); again != got {
			t.Errorf("%s: a second time changes it: %q became %q", name, got, again)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	r := both(t)
	for _, text := range []string{
		"", "plain text\n", "task-force sk-1", "a risk-based-approach-to-software-engineering", "the bearer of news", "git@github.com:a/b.git",
		"https://example.com:8080/x", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", "1234", "Basic usage of the tool",
	} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	var none *Redactor
	if none.String(token) != token {
		t.Error("nil takes something out")
	}
}

// split writes a text in pieces of random sizes.
func split(t *testing.T, r *Redactor, text string, rnd *rand.Rand, largest int) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Filter(&out)
	for b := []byte(text); len(b) > 0; {
		n := min(1+rnd.IntN(largest), len(b))
		if k, err := w.Write(b[:n]); k != n || err != nil {
			t.Fatal(k, err)
		}
		b = b[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAStreamIsFilteredHoweverItIsCut(t *testing.T) {
	r := both(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("0123456789abcdef\n", 90) + "-----END PRIVATE KEY-----"
	var text strings.Builder
	for i := range 70 {
		fmt.Fprintf(&text, "line %d of the output\n", i)
		switch i % 7 {
		case 0:
			text.WriteString("token=" + token + "\n")
		case 1:
			text.WriteString(manyLn)
		case 2:
			text.WriteString(strings.Repeat("x,", 6000) + token + strings.Repeat(",y", 6000))
		case 3:
			text.WriteString(key + "\n")
		case 4:
			text.WriteString(strings.Repeat("z", 70_000) + " ghp_" + strings.Repeat("a1", 18) + " ")
		case 5:
			text.WriteString(base64.StdEncoding.EncodeToString([]byte("abc" + token)))
		}
	}
	whole := r.String(text.String())
	for _, largest := range []int{1, 7, 100, 5000, 200_000} {
		got := split(t, r, text.String(), rnd, largest)
		for _, v := range []string{token, "0123456789abcdef\n", "second line of a key", "ghp_a1"} {
			if strings.Contains(got, v) {
				at := strings.Index(got, v)
				t.Errorf("in pieces of up to %d bytes %q stays: …%q…", largest, v, got[max(0, at-80):min(len(got), at+80)])
			}
		}
		if a, b := strings.Count(got, "line "), strings.Count(whole, "line "); a != b {
			t.Errorf("in pieces of up to %d bytes: %d lines, want %d", largest, a, b)
		}
	}
}

func TestTheBeginningOfAValueThatWasCutOffIsNotLeft(t *testing.T) {
	r := both(t)
	var out bytes.Buffer
	w := r.Filter(&out)
	_, _ = w.Write([]byte("so far: " + token[:14]))
	if err := w.Close(); err != nil || out.String() != "so far: [cut]" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("a token hunter2/with+odd&chars and more", uint64(1))
	f.Add("-----BEGIN RSA PRIVATE KEY-----\nabc", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r, _ := New(map[string]string{"T": "hunter2/with+odd", "L": "one\ntwo and three\n"})
		rnd := rand.New(rand.NewPCG(seed, 1))
		text += "hunter2/with+odd" + text
		if got := split(t, r, text, rnd, 40); strings.Contains(got, "hunter2/with+odd") {
			t.Errorf("%q became %q", text, got)
		}
		if once := r.String(text); strings.Contains(once, "hunter2/with+odd") {
			t.Errorf("%q became %q", text, once)
		}
	})
}

// many are as many secrets as an environment of CI may have, one of them a key file.
func many() map[string]string {
	out := map[string]string{}
	rnd := rand.New(rand.NewPCG(5, 6))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789+/"[rnd.IntN(60)]
		}
		return string(b)
	}
	for i := range 39 {
		out[fmt.Sprint("S", i)] = word(12 + i)
	}
	key := ""
	for range 40 {
		key += word(64) + "\n"
	}
	out["KEY"] = "-----BEGIN PRIVATE KEY-----\n" + key + "-----END PRIVATE KEY-----\n"
	return out
}

func BenchmarkFilter(b *testing.B) {
	three, _ := New(map[string]string{"A": token, "B": strings.Repeat("key", 12), "C": "another-secret-value"})
	forty, _ := New(many())
	line := "the quick brown fox jumps over the lazy dog, and says {\"json\": 1}\n"
	escaped, _ := json.Marshal(strings.Repeat(line, 4))
	dense := strings.ReplaceAll(fmt.Sprintf("%x\n", line), "6", "%2536")
	for name, text := range map[string]string{"plain": line, "escaped": string(escaped) + "\n", "dense": dense} {
		for secrets, r := range map[string]*Redactor{"3": three, "40": forty} {
			b.Run(name+"/"+secrets, func(b *testing.B) {
				chunk := []byte(strings.Repeat(text, 32<<10/len(text)))
				w := r.Filter(discard{})
				b.SetBytes(int64(len(chunk)))
				for b.Loop() {
					_, _ = w.Write(chunk)
				}
			})
		}
	}
	packed := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(line, 2)))[:76] + "\n"
	for name, text := range map[string]string{"lines": line, "packed": packed} {
		b.Run(name+"/40", func(b *testing.B) {
			w := forty.Filter(discard{})
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = w.Write([]byte(text))
			}
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// What is wrapped, mixed or escaped in part.
func TestAValueIsTakenOutOfWhatIsWrappedOrMixed(t *testing.T) {
	const v = `hunter2/with+odd&chars="quoted" and more of it, so that it is wrapped`
	r, _ := New(map[string]string{"V": v})
	wrap := func(s string, width int, end string) string {
		var b strings.Builder
		for len(s) > width {
			b.WriteString(s[:width] + end)
			s = s[width:]
		}
		return b.String() + s + end
	}
	mixed := func(one func(i int, c byte) string) string {
		var b strings.Builder
		for i, c := range []byte(v) {
			b.WriteString(one(i, c))
		}
		return b.String()
	}
	texts := map[string]string{
		"percent, every second": mixed(func(i int, c byte) string { return []string{string(c), fmt.Sprintf("%%%02x", c)}[i%2] }),
		"percent, mixed case":   mixed(func(i int, c byte) string { return []string{fmt.Sprintf("%%%02X", c), fmt.Sprintf("%%%02x", c)}[i%2] }),
		"percent, twice":        mixed(func(i int, c byte) string { return fmt.Sprintf("%%25%02x", c) }),
		"entities, decimal":     mixed(func(i int, c byte) string { return fmt.Sprintf("&#%d;", c) }),
		"entities, hexadecimal": mixed(func(i int, c byte) string { return fmt.Sprintf("&#x%04X;", c) }),
		"entities, named":       strings.NewReplacer("&", "&amp;", `"`, "&quot;", "/", "&sol;", "+", "&plus;", "=", "&equals;", ",", "&comma;").Replace(v),
		"JavaScript":            mixed(func(i int, c byte) string { return fmt.Sprintf(`\x%02x`, c) }),
		"JSON, every one":       mixed(func(i int, c byte) string { return fmt.Sprintf(`\u%04x`, c) }),
		"a shell": mixed(func(i int, c byte) string {
			return strings.TrimPrefix(`\`+string(c), []string{`\`, ""}[min(1, strings.IndexByte(` "&=/+`, c)+1)])
		}),
		"hexadecimal, wrapped": wrap(hex.EncodeToString([]byte(v)), 60, "\n"),
		"hexadecimal, colons":  strings.ToUpper(wrap(hex.EncodeToString([]byte(v)), 2, ":")),
	}
	jsons := v
	for range 3 {
		b, _ := json.Marshal(jsons)
		jsons = string(b)
	}
	texts["JSON, three times"] = jsons
	for _, enc := range []struct {
		name string
		*base64.Encoding
	}{{"std", base64.StdEncoding}, {"URL", base64.URLEncoding}, {"raw", base64.RawStdEncoding}, {"raw URL", base64.RawURLEncoding}} {
		for skip := range 3 {
			for _, width := range []int{19, 64, 76} {
				s := enc.EncodeToString([]byte(strings.Repeat("p", 30+skip) + v + "xyz"))
				texts[fmt.Sprintf("base64 %s, %d, %d, LF", enc.name, skip, width)] = wrap(s, width, "\n")
				texts[fmt.Sprintf("base64 %s, %d, %d, CRLF", enc.name, skip, width)] = wrap(s, width, "\r\n")
				texts[fmt.Sprintf("base64 %s, %d, %d, in JSON", enc.name, skip, width)] = wrap(s, width, `\n`)
			}
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for how, text := range texts {
		text = "before\n" + text + "\nafter"
		if got := r.String(text); strings.Count(got, "[secret V]") != 1 || !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "after") {
			t.Errorf("%s: %q became %q", how, text, got)
		}
		for _, largest := range []int{1, 20, 500} {
			if got := split(t, r, text, rnd, largest); strings.Count(got, "[secret V]") != 1 || !strings.HasSuffix(got, "after") {
				t.Errorf("%s, in pieces of %d: %q became %q", how, largest, text, got)
			}
		}
		if n, err := r.Count(strings.NewReader(strings.Repeat("x\n", 32_700) + text + strings.Repeat("y\n", 50_000))); err != nil || n["V"] != 1 {
			t.Errorf("%s: counted %v, %v", how, n, err)
		}
	}
}

func TestAShortValueBlanksNoWords(t *testing.T) {
	r, _ := New(map[string]string{"V": "secret"})
	for _, text := range []string{"c2Vj cmV0", "sec%20ret", "se\ncret", "&sec;ret", "100% &amp; more \\ and \\n"} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestWhichLinesLookRandom(t *testing.T) {
	for line, want := range map[string]bool{
		"NODE_ENV=production": false,
		`"token_uri": "https://oauth2.googleapis.com/token",`:           false,
		`"auth_uri": "https://accounts.google.com/o/oauth2/auth",`:      false,
		"NEXT_PUBLIC_URL=https://example.com/v2":                        false,
		`"client_email": "robot@shop-123456.iam.gserviceaccount.com",`:  false,
		"11111111 22222222 33333333":                                    false,
		"API_TOKEN=xK39fQpL02mZtRw8":                                    true,
		`"private_key_id": "0123456789abcdef0123456789abcdef01234567",`: true,
		"ID=0b5c1f0e-7d0e-4ba4-9a11-0d1a2b3c4d5e":                       true,
		"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8": true,
	} {
		if got := random(line); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	text := "NODE_ENV=production\nAPI_TOKEN=xK39fQpL02mZtRw8\n"
	search := NewSearch(map[string]string{"ENV": text})
	for in, want := range map[string]int{"NODE_ENV=production\n": 0, "API_TOKEN=xK39fQpL02mZtRw8": 1, "a\n" + text: 1} {
		if got, err := search.Count(strings.NewReader(in)); err != nil || got["ENV"] != want {
			t.Errorf("%q: %v %v", in, got, err)
		}
	}
	if all, _ := New(map[string]string{"ENV": text}); all.String("NODE_ENV=production") != "[secret ENV]" {
		t.Error("a long line is not taken out of what is printed")
	}
}

// What a search takes is counted, not timed: 40 secrets over 16 MB, escaped in most.
func TestASearchTakesLittleMemory(t *testing.T) {
	if testing.Short() { // as `make race`: its pools keep nothing, so that more is allocated
		t.Skip("counts what is allocated")
	}
	r, _ := New(many())
	line, _ := json.Marshal("a \"quoted\" line\tof <output> & more\n")
	text := bytes.Repeat(append(line, '\n'), 16<<20/len(line))
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if got := allocated(func() { _, _ = r.Count(bytes.NewReader(text)) }); got > 4<<20 {
		t.Errorf("a search of %d bytes allocates %d", len(text), got)
	}
	if got := allocated(func() {
		w := r.Filter(discard{})
		for b := text; len(b) > 0; b = b[min(len(b), 4<<10):] {
			_, _ = w.Write(b[:min(len(b), 4<<10)])
		}
	}); got > 4<<20 {
		t.Errorf("a filter of %d bytes allocates %d", len(text), got)
	}
}

// Forms of other tools, of which one value or another has none.
func TestAValueIsFoundInWhatOtherToolsWrite(t *testing.T) {
	for _, v := range []string{"hunter2/swordfish+77", `it's "a" pass & word/+<7`, "xK39fQpL02mZtRw8aa91", "pässwörd-geheim-2024"} {
		r, _ := New(map[string]string{"V": v})
		little, big := wide(v)
		octal := ""
		for _, c := range []byte(v) {
			octal += fmt.Sprintf(`\%03o`, c)
		}
		text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
		texts := map[string]string{
			"UTF-16, little": little, "UTF-16, big": big, "UTF-16 in base64": text(little), "base64 in base64": text(text("user:" + v)), "octal": octal,
			"Go": fmt.Sprintf("%+q", v), "shell": strings.ReplaceAll(v, "'", `'\''`), "shell, in quotes": strings.ReplaceAll(v, "'", `'"'"'`),
			"YAML, SQL": strings.ReplaceAll(v, "'", "''"), "a line that goes on": v[:8] + "\\\n" + v[8:], "braces": strings.ReplaceAll(v, "a", `\u{61}`),
			"JSON in base64": text(quoted(v, true)), "twice in a URL": url.QueryEscape(url.QueryEscape(v)),
		}
		if !strings.Contains(v, " ") {
			texts["wrapped"], texts["folded"] = v[:8]+"\n"+v[8:], v[:8]+"\r\n    "+v[8:]
		}
		for how, in := range texts {
			if got := r.String("before\n" + in + "\nafter"); !strings.Contains(got, "[secret V]") {
				t.Errorf("%q, %s: %q became %q", v, how, in, got)
			}
			rnd := rand.New(rand.NewPCG(7, 8))
			if got := split(t, r, "before\n"+in+"\nafter", rnd, 5); !strings.Contains(got, "[secret V]") {
				t.Errorf("%q, %s, in pieces: %q became %q", v, how, in, got)
			}
		}
	}
	r, _ := New(map[string]string{"V": "supercalifragilistic"})
	if got := r.String("super cali fragilistic"); got != "super cali fragilistic" {
		t.Errorf("words became %q", got)
	}
}

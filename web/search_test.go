//go:build unix

package web

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// searched is what a search finds in a text.
func searched(t *testing.T, text, query string) FileSearch {
	t.Helper()
	find := finding{query: []byte(query), limit: mostHits, most: mostSearched}
	out, err := find.in(t.Context(), strings.NewReader(text), int64(len(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAFileIsSearchedToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, failsOnce))
	s.start()()
	dir := s.attemptDir("bd-1-1", "implement-1")
	var b strings.Builder
	want := 0
	for i := 1; i <= 200_000; i++ {
		if i%571 == 0 {
			fmt.Fprintf(&b, "line %d says FAIL, and fails\n", i)
			want += 2
			continue
		}
		fmt.Fprintf(&b, "line %d of what an agent may say while it works\n", i)
	}
	b.WriteString("token ghp_abcdefghijklmnopqrstuvwxyz0123456789\n")
	text := b.String()
	if err := os.WriteFile(filepath.Join(dir, "big.out"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const at = "/EPIC/nodes/1.1/attempts/implement/1/search"
	first := got[FileSearch](s, at+"?file=big.out&q=fail")
	if first.Total != int64(want) || first.Size != int64(len(text)) || first.Searched != first.Size || len(first.Hits) != 50 {
		t.Fatalf("%d hits of %d, %d of %d bytes, %d named", first.Total, want, first.Searched, first.Size, len(first.Hits))
	}
	if h := first.Hits[2]; h.Number != 3 || h.Line != 1142 || !strings.HasPrefix(text[h.At:], "FAIL, and") || h.Length != 4 || h.Text != "line 1142 says FAIL, and fails" {
		t.Errorf("the third: %+v", h)
	}
	last := got[FileSearch](s, fmt.Sprintf("%s?file=big.out&q=Fail&after=%d&limit=200", at, want-1))
	if last.Total != int64(want) || len(last.Hits) != 1 || last.Hits[0].Number != int64(want) || last.Hits[0].Line != 199850 || !strings.HasPrefix(text[last.Hits[0].At:], "fails\n") {
		t.Errorf("the last: %+v", last)
	}
	for _, secret := range []string{"ghp_", "abcdefgh"} { // it is not told bit by bit
		if none := got[FileSearch](s, at+"?file=big.out&q="+secret); none.Total != 0 {
			t.Errorf("%s: %+v", secret, none)
		}
	}
	for query, c := range map[string]struct {
		status int
		says   string
	}{
		"file=big.out":                               {http.StatusBadRequest, "q is what to look for"},
		"q=x":                                        {http.StatusBadRequest, "file is the name"},
		"file=big.out&q=a%0Ab":                       {http.StatusBadRequest, "several lines"},
		"file=big.out&q=%88":                         {http.StatusBadRequest, "not UTF-8"},
		"file=big.out&q=x&limit=201":                 {http.StatusBadRequest, "limit is a number from 1 to 200"},
		"file=big.out&q=x&after=-1":                  {http.StatusBadRequest, "after is a number from 0"},
		"file=none.out&q=x":                          {http.StatusNotFound, "implement #1 of 1.1 has no file none.out"},
		"file=..%2Fimplement-2%2Fa.out&q=x":          {http.StatusNotFound, "has no file"},
		"file=big.out&q=" + strings.Repeat("x", 257): {http.StatusBadRequest, "257 bytes; 256"},
	} {
		if status, text, _ := s.text(at + "?" + query); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

func TestWhatASearchFinds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", searchWindow/4)
	for name, c := range map[string]struct {
		text, query string
		hits        []FileHit
	}{
		"nothing":                   {"", "x", nil},
		"hits do not overlap":       {"aaaaa", "aa", []FileHit{{1, 1, 0, 2, "aaaaa"}, {2, 1, 2, 2, "aaaaa"}}},
		"upper and lower case":      {"Größe\nGRÖSSE größe", "GRÖ", []FileHit{{1, 1, 0, 4, "Größe"}, {2, 2, 8, 4, "GRÖSSE größe"}, {3, 2, 16, 4, "GRÖSSE größe"}}},
		"not a pattern":             {"a.c abc a*c\n", "a.c", []FileHit{{1, 1, 0, 3, "a.c abc a*c"}}},
		"colours are passed over":   {"\x1b[1;31mFA\x1b[0mIL\x1b[m: x\nfail\r\n", "fail: ", []FileHit{{1, 1, 7, 13, "FAIL: x"}}},
		"what is no colour is none": {"\x1b[2Kfail\x1b[3", "kf", []FileHit{{1, 1, 3, 2, "\x1b[2Kfail\x1b[3"}}},
		"no UTF-8":                  {"\xff\xfeFAIL\xe4\n\xe4fail", "fail", []FileHit{{1, 1, 2, 4, "\ufffdFAIL\ufffd"}, {2, 2, 9, 4, "\ufffdfail"}}},
		"a line longer than all": {long + "Needle" + long + "needle\nneedle", "needle", []FileHit{
			{1, 1, int64(len(long)), 6, long[len(long)-aroundHit:] + "Needle" + long[:aroundHit]},
			{2, 1, int64(2*len(long) + 6), 6, long[len(long)-aroundHit:] + "needle"},
			{3, 2, int64(2*len(long) + 13), 6, "needle"},
		}},
	} {
		out := searched(t, c.text, c.query)
		if out.Total != int64(len(c.hits)) || len(out.Hits) != len(c.hits) || out.Searched != int64(len(c.text)) {
			t.Errorf("%s: %d hits, %d of %d bytes: %.300v", name, out.Total, out.Searched, len(c.text), out.Hits)
			continue
		}
		for i, want := range c.hits {
			if out.Hits[i] != want {
				t.Errorf("%s: %+v, want %+v", name, out.Hits[i], want)
			}
		}
	}
}

// Where windows meet, no hit is lost or found twice.
func TestASearchAcrossWindows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var b bytes.Buffer
		for b.Len() < 3*searchWindow {
			switch n := random.IntN(1000); {
			case n < 3:
				b.WriteString("nee\x1b[31mdle")
			case n < 5:
				b.WriteString("\x1b[0m")
			case n == 5 && random.IntN(400) == 0:
				b.WriteByte('\n')
			default:
				b.WriteString("eedlenee"[:1+n%8])
			}
		}
		text := b.Bytes()
		copy(text[searchWindow-searchAcross-random.IntN(12):], "needleneedle") // there one ends, if no line does
		clean, _ := withoutColours(text)
		if out, want := searched(t, string(text), "needle"), bytes.Count(clean, []byte("needle")); out.Total != int64(want) {
			t.Errorf("%d hits, want %d", out.Total, want)
		}
	}
}

func TestASearchIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line with a needle in it\n", 200_000)
	size := int64(len(text))
	in := func(ctx context.Context, text string, most int64, until time.Time) (FileSearch, error) {
		find := finding{query: []byte("needle"), limit: 1, most: most, until: until}
		return find.in(ctx, strings.NewReader(text), size, nil)
	}
	out, err := in(t.Context(), text, searchWindow+1, time.Time{})
	if err != nil || out.Searched < searchWindow || out.Searched > 2*searchWindow || out.Total != out.Searched/27 || out.Size != size {
		t.Errorf("%v: %d hits in %d of %d bytes", err, out.Total, out.Searched, out.Size)
	}
	if out, err = in(t.Context(), text, mostSearched, time.Now().Add(-time.Second)); err != nil || out.Searched != 0 || out.Total != 0 {
		t.Errorf("without time: %v: %+v", err, out)
	}
	if out, err = in(t.Context(), text[:27], mostSearched, time.Time{}); err != nil || out.Searched != 27 || out.Size != 27 || out.Total != 1 {
		t.Errorf("it was cut meanwhile: %v: %+v", err, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = in(ctx, text, mostSearched, time.Time{}); err == nil {
		t.Error("it goes on when nobody waits for it")
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("one\x1b[1mtwo\nTHREE", "ne")
	f.Add("\xff\x1b[", "\x1b")
	f.Fuzz(func(t *testing.T, text, query string) {
		if query == "" || strings.ContainsAny(query, "\r\n") || !utf8.ValidString(query) {
			return
		}
		plain, _ := withoutColours([]byte(text))
		fold(plain)
		small := []byte(query)
		fold(small)
		out := searched(t, text, query)
		if want := bytes.Count(plain, small); out.Total != int64(want) {
			t.Fatalf("%d hits, want %d", out.Total, want)
		}
		for _, h := range out.Hits {
			hit, _ := withoutColours([]byte(text[h.At : h.At+int64(h.Length)]))
			fold(hit)
			if !bytes.Equal(hit, small) || int64(strings.Count(text[:h.At], "\n"))+1 != h.Line {
				t.Fatalf("%+v is %q", h, hit)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	text := strings.Repeat("line 12345 of what an agent may say while it works\n", 200_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		find := finding{query: []byte("12346"), limit: 1, most: mostSearched}
		if _, err := find.in(b.Context(), strings.NewReader(text), int64(len(text)), nil); err != nil {
			b.Fatal(err)
		}
	}
}

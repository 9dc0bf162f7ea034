package depend

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Letters of one number are tracks: 1.2a and 1.2b run side by side, 1.2ab joins
// them. The same holds for phases.

// joinTracks lets 1.2ab wait for 1.2a and 1.2b, and 1.2a for a plain 1.2 beside it.
func (d *depender) joinTracks(c cell) {
	first := &d.Items[c[0]]
	if len(c) < 2 && len(first.Number.Letters()) < 2 || d.Rules.sequence || first.Marked { // a run of marked items has no tracks
		return
	}
	tracks := lists.Map(c, func(i int32) track {
		return track{letters: d.Items[i].Number.Letters(), key: string(d.Items[i].Key), at: d.Items[i].At}
	})
	d.eachJoin(tracks, "item", func(from, to int) {
		if !d.replaced[c[to]] {
			d.addEdge(c[from], c[to], byNumber, d.Items[c[to]].At)
		}
	})
}

// track is one lettered item, or phase, of a number.
type track struct {
	letters string
	key     string
	at      diag.Range
}

// eachJoin calls link(from, to) for each pair in which track to joins track
// from: the largest proper subsets of its letters. A plain number comes before
// its single letters.
func (d *depender) eachJoin(ts []track, what string, link func(from, to int)) {
	single := map[string]bool{}
	var multi []int
	plain := -1
	for k, t := range ts {
		switch len(t.letters) {
		case 0:
			plain = k
		case 1:
			single[t.letters] = true
		default:
			multi = append(multi, k)
		}
	}
	lettered := slices.IndexFunc(ts, func(t track) bool { return t.letters != "" })
	if plain >= 0 && lettered >= 0 {
		d.diags.Add(diag.Newf("plain-beside-lettered", ts[lettered].at, "%s waits for %s", clip(ts[lettered].key), clip(ts[plain].key)).
			WithDetail("A plain number comes before the letters of the same number, and what follows waits for the letters. If %s %s should run beside %s, give it a letter too.", what, ts[plain].key, ts[lettered].key).
			WithRelated(ts[plain].at, "the plain number"))
		for k, t := range ts {
			if len(t.letters) == 1 {
				link(plain, k)
			}
		}
	}
	if len(multi) > maxJoins {
		d.diags.Add(diag.Newf("unknown-track", ts[multi[0]].at, "more than %d items join tracks of one number", maxJoins).
			WithDetail("Use the next number for what follows the joined tracks."))
		return
	}
	for _, k := range multi {
		set := letterSet(ts[k].letters)
		missing := ""
		if i := strings.IndexFunc(ts[k].letters, func(r rune) bool { return !single[string(r)] }); i >= 0 {
			missing = ts[k].letters[i : i+1]
		}
		if missing != "" || set == 0 {
			base := ts[k].key[:len(ts[k].key)-len(ts[k].letters)]
			d.diags.Add(diag.Newf("unknown-track", ts[k].at, "%s joins a track that does not exist", clip(ts[k].key)).
				WithDetail("Several letters join the tracks that they name, but there is no %s %s%s. Name only letters that exist, each once, or write %s with one letter.", what, base, cmp.Or(missing, ts[k].letters), ts[k].key))
			continue
		}
		for _, from := range d.largestSubsets(ts, k, set, multi) {
			link(from, k)
		}
	}
}

// maxJoins bounds the joins of one number: each is compared with each.
const maxJoins = 200

func (d *depender) largestSubsets(ts []track, k int, set uint32, multi []int) []int {
	covered := uint32(0)
	var subs []int
	for _, m := range multi {
		s := letterSet(ts[m].letters)
		if m == k || s == 0 || s&^set != 0 || s == set {
			continue
		}
		larger := slices.ContainsFunc(multi, func(o int) bool {
			so := letterSet(ts[o].letters)
			return o != k && o != m && so != set && so&^set == 0 && s&^so == 0 && s != so
		})
		if !larger {
			subs = append(subs, m)
			covered |= s
		}
	}
	for i, t := range ts {
		if len(t.letters) == 1 {
			if s := letterSet(t.letters); s&set != 0 && s&covered == 0 {
				subs = append(subs, i)
			}
		}
	}
	return subs
}

// letterSet returns the letters as a bit set; 0 if one is repeated or is not in a to z.
func letterSet(s string) uint32 {
	set := uint32(0)
	for _, r := range s {
		if r < 'a' || r > 'z' || set&(1<<(r-'a')) != 0 {
			return 0
		}
		set |= 1 << (r - 'a')
	}
	return set
}

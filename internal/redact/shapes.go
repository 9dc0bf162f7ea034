package redact

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// shape is how a kind of secret looks: no more is needed to know one.
type shape struct {
	anchor []byte // stands in each; looked for first, because that is fast
	re     *lazyregexp.Regexp
	place  []byte // $1 and $2 are what stays of it
}

func secretLike(anchor, pattern, name string) shape {
	return shape{[]byte(anchor), lazyregexp.New(pattern), []byte("${1}[secret: " + name + "]${2}")}
}

// shapes are secrets whose look is documented by who gives them out.
var shapes = []shape{
	secretLike("PRIVATE KEY-----", `()-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.*?)-----END [A-Z ]{0,40}PRIVATE KEY-----`, "private key"),
	secretLike("sk-", `(^|[^A-Za-z0-9_-])sk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{20,}`, "API key"),
	secretLike("k_live_", `(^|[^A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{16,}`, "API key"),
	secretLike("ghp_", `(^|[^A-Za-z0-9])ghp_[A-Za-z0-9]{30,}`, "GitHub token"),
	secretLike("gho_", `(^|[^A-Za-z0-9])gho_[A-Za-z0-9]{30,}`, "GitHub token"),
	secretLike("ghu_", `(^|[^A-Za-z0-9])ghu_[A-Za-z0-9]{30,}`, "GitHub token"),
	secretLike("ghs_", `(^|[^A-Za-z0-9])ghs_[A-Za-z0-9]{30,}`, "GitHub token"),
	secretLike("ghr_", `(^|[^A-Za-z0-9])ghr_[A-Za-z0-9]{30,}`, "GitHub token"),
	secretLike("github_pat_", `()github_pat_[A-Za-z0-9_]{22,}`, "GitHub token"),
	secretLike("glpat-", `()glpat-[A-Za-z0-9_-]{20,}`, "GitLab token"),
	secretLike("AKIA", `(^|[^A-Za-z0-9])AKIA[0-9A-Z]{16}\b`, "AWS key"),
	secretLike("ASIA", `(^|[^A-Za-z0-9])ASIA[0-9A-Z]{16}\b`, "AWS key"),
	secretLike("AIza", `(^|[^A-Za-z0-9])AIza[0-9A-Za-z_-]{35}`, "Google key"),
	secretLike("xox", `(^|[^A-Za-z0-9])xox[abeprs]-[0-9A-Za-z-]{10,}`, "Slack token"),
	secretLike("npm_", `(^|[^A-Za-z0-9])npm_[A-Za-z0-9]{36}`, "npm token"),
	secretLike("hf_", `(^|[^A-Za-z0-9])hf_[A-Za-z0-9]{30,}`, "Hugging Face token"),
	secretLike("pypi-", `()pypi-AgE[A-Za-z0-9_-]{30,}`, "PyPI token"),
	secretLike("dop_v1_", `()dop_v1_[a-f0-9]{64}`, "API key"),
	secretLike("eyJ", `(^|[^A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`, "JSON web token"),
	secretLike("earer ", `([Bb]earer )[A-Za-z0-9._~+/-]{20,}=*`, "token"),
	secretLike("asic ", `([Aa]uthorization["']?\s{0,3}[:=]\s{0,3}["']?[Bb]asic )[A-Za-z0-9+/]{8,}=*`, "password"),
	secretLike("://", `([a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>]{1,100}:)[^\s/:@"'<>\[]{3,200}(@)`, "password"),
}

// shapeAnchors is the finder that tells whether a text can contain any shape.
var shapeAnchors = sync.OnceValue(func() *finder {
	var anchors []needle
	for _, s := range shapes {
		anchors = append(anchors, needle{form: s.anchor})
	}
	slices.SortStableFunc(anchors, func(a, b needle) int { return cmp.Compare(len(b.form), len(a.form)) })
	return newFinder(anchors)
})

// replace takes what has the shape out of a text.
func (s *shape) replace(b []byte) []byte {
	if !bytes.Contains(b, s.anchor) {
		return b
	}
	return s.re.ReplaceAll(b, s.place)
}

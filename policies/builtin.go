package policies

import (
	"embed"
	"fmt"
	"path"
	"sync"

	"github.com/ralph-compiler/ralph/diag"
)

//go:embed builtin/*.hcl
var builtinFiles embed.FS

// Builtin returns the files of the built-in policy, by name: what `ralph init
// --builtin` prints.
func Builtin() []*diag.File {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		panic("policies: the built-in policy is not embedded: " + err.Error())
	}
	out := make([]*diag.File, len(entries))
	for i, e := range entries {
		b, err := builtinFiles.ReadFile(path.Join("builtin", e.Name()))
		if err != nil {
			panic("policies: the built-in policy is not embedded: " + err.Error())
		}
		out[i] = diag.NewFile("builtin/"+e.Name(), b)
	}
	return out
}

// builtin is the decoded built-in policy. Its blocks are shared by all Sets
// and never changed; none of them mentions node.*, so none is evaluated again.
var builtin = sync.OnceValue(decodeBuiltin)

func decodeBuiltin() *Set {
	complete()
	s := newSet()
	d := &decoder{scope: newScope(nil, nil), src: newTexts(), builtin: true}
	d.declareBuiltin(s)
	d.decodeAll(s, d.parse(Builtin()), Input{})
	if d.diags.HasErrors() {
		panic(fmt.Sprintf("policies: the built-in policy is wrong: %+v", d.diags))
	}
	return s
}

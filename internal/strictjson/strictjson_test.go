package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/strictjson"
)

func TestAmbiguousJSONIsFound(t *testing.T) { // K7
	if err := strictjson.Check([]byte(`{"a":1,"A":2}`), 3, false); err != nil {
		t.Error(err)
	}
	for in, want := range map[string]string{
		`{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}`: "",
		`{"verdict":"fail","verdict":"pass"}`:       `"verdict" appears twice`,
		`{"verdict":"fail","Verdict":"pass"}`:       `"verdict" appears twice`,
		`{"a":{"b":1,"B":2}}`:                       "",
		`{"a":{"b":1,"b":2}}`:                       `"b" appears twice`,
		`[{"b":1,"b":2}]`:                           `"b" appears twice`,
		`{"a":"a","b":["a","a"]}`:                   "",
		`{"a":1} {"a":2}`:                           "more than one",
		`[[[1]]]`:                                   "",
		`[[[[1]]]]`:                                 "more than 3 levels",
		`{"a":`:                                     "not valid JSON",
		``:                                          "",
	} {
		err := strictjson.Check([]byte(in), 3, true)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
		if _, twice := errors.AsType[*strictjson.Twice](err); twice != strings.Contains(want, "twice") {
			t.Errorf("%s: %T", in, err)
		}
	}
}

package policies

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// dump prints what the user set in a Set: a line for each value with its place,
// built-in blocks left out.
func dump(s *Set, files map[string]*diag.File) string {
	var b strings.Builder
	dumpValue(&b, files, "", reflect.ValueOf(s).Elem())
	return b.String()
}

func dumpValue(b *strings.Builder, files map[string]*diag.File, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dumpValue(b, files, path, v.Elem())
		}
	case reflect.Map:
		keys := []string{}
		for _, k := range v.MapKeys() {
			keys = append(keys, k.String())
		}
		for _, k := range sortedStrings(keys) {
			dumpValue(b, files, path+"."+k, v.MapIndex(reflect.ValueOf(k)))
		}
	case reflect.Slice:
		for i := range v.Len() {
			e := v.Index(i)
			if f, ok := e.Interface().(FileRead); ok {
				fmt.Fprintf(b, "%s %s %s… for %s\n", path, f.Path, f.Digest[:14], f.For)
				continue
			}
			dumpValue(b, files, fmt.Sprintf("%s[%d]", path, i), e)
		}
	case reflect.Struct:
		if d, ok := v.Interface().(Decl); ok {
			if d.Range.File != "" && !d.Builtin {
				fmt.Fprintf(b, "%s @%s\n", path, place(files, d.Range))
			}
			return
		}
		if f := v.FieldByName("Decl"); f.IsValid() && f.Interface().(Decl).Builtin {
			return
		}
		if set := v.FieldByName("Set"); set.IsValid() && set.Kind() == reflect.Bool {
			r := v.FieldByName("Range").Interface().(diag.Range)
			if set.Bool() && !strings.HasPrefix(r.File, "builtin/") {
				fmt.Fprintf(b, "%s = %s @%s (%s)\n", path, literal(v.FieldByName("V")), place(files, r), v.FieldByName("Origin").String())
			}
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "Range" || f.Name == "Own" { // Own is in Settings
				continue
			}
			if f.Anonymous {
				dumpValue(b, files, path, v.Field(i))
				continue
			}
			dumpValue(b, files, path+"."+f.Name, v.Field(i))
		}
	case reflect.Bool:
		if v.Bool() {
			fmt.Fprintf(b, "%s\n", path)
		}
	case reflect.String:
		if v.String() != "" {
			fmt.Fprintf(b, "%s: %s\n", path, v.String())
		}
	}
}

func literal(v reflect.Value) string {
	if raw, ok := v.Interface().([]byte); ok {
		return string(raw)
	}
	if v.Type().String() == "json.RawMessage" {
		return string(v.Bytes())
	}
	return fmt.Sprintf("%#v", v.Interface())
}

func place(files map[string]*diag.File, r diag.Range) string {
	f := files[r.File]
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%s:%s-%s", r.File, f.Position(r.Start), f.Position(r.End))
}

func sortedStrings(s []string) []string {
	m := map[string]bool{}
	for _, x := range s {
		m[x] = true
	}
	return sortedKeys(m)
}

// printDiags prints diagnostics as the golden cases hold them.
func printDiags(l diag.List, files map[string]*diag.File) string {
	var b strings.Builder
	for _, d := range l {
		fmt.Fprintf(&b, "%s %s %s: %s\n", d.Severity, d.Code, place(files, d.Range), d.Summary)
		if f := files[d.Range.File]; f != nil {
			fmt.Fprintf(&b, "\t> %q\n", f.Text(d.Range))
		}
		fmt.Fprintf(&b, "\t%s\n", d.Detail)
		for _, r := range d.Related {
			fmt.Fprintf(&b, "\t%s: %s\n", place(files, r.Range), r.Message)
		}
		if d.Fix != nil {
			fmt.Fprintf(&b, "\tfix: %q\n", d.Fix.Text)
		}
	}
	return b.String()
}

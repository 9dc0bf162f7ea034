package executor

import (
	"reflect"
)

// Redacted returns a copy of a body with every text passed through clean; nil cleans
// nothing. Names of commits, trees and digests have no shape that clean recognises.
func Redacted(b Body, clean func(string) string) Body {
	if clean == nil || b == nil {
		return b
	}
	old := reflect.ValueOf(b)
	v := reflect.New(old.Type()).Elem()
	v.Set(old)
	redact(v, clean)
	out, _ := v.Interface().(Body) // it is of the type of b
	return out
}

// redact cleans the texts of a value in place; what others may share is copied.
func redact(v reflect.Value, clean func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			if c := clean(s); c != s {
				v.SetString(c)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				redact(v.Field(i), clean)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(v.Elem())
			redact(p.Elem(), clean)
			v.Set(p)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(s, v)
		for i := range s.Len() {
			redact(s.Index(i), clean)
		}
		v.Set(s)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(it.Value())
			redact(e, clean)
			k := reflect.New(v.Type().Key()).Elem() // the name of a file, perhaps
			k.Set(it.Key())
			redact(k, clean)
			m.SetMapIndex(k, e)
		}
		v.Set(m)
	}
}

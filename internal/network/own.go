package network

import "reflect"

// Own returns a copy of a part of a configuration, such as an architecture or a kernel. The copy
// shares no slice in an exported field with the original, so later changes by the caller do not
// affect a plan. Pointers are copied as they are.
func Own[T any](part T) T {
	v := reflect.ValueOf(&part).Elem()
	v.Set(owned(v))
	return part
}

// owned copies structs, slices and the values that interfaces hold.
func owned(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			return owned(v.Elem())
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(owned(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(owned(v.Field(i)))
			}
		}
		return out
	}
	return v
}

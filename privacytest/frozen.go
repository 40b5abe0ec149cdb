package privacytest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// frozen is a copy of a value, including unexported fields. Two copies can be compared even after
// the values themselves have changed.
type frozen struct {
	typ    reflect.Type // nil for the nil interface
	leaf   string       // content of a value without parts, bit for bit
	parts  []frozenPart // fields, elements, and the value that a pointer or an interface holds
	opaque string       // why the value cannot be compared, if it cannot
}

// frozenPart is a value within another value.
type frozenPart struct {
	name string
	frozen
}

// freeze copies v. Floats are copied by their bits, so NaN equals itself and −0 differs from 0.
// Slices are copied up to their capacity, because elements beyond their length are in memory and
// can be resliced. Slices of bytes are copied up to their length, because buffers of the standard
// library leave arbitrary bytes beyond it. A pointer that occurs again is represented by the number
// of its first occurrence.
func freeze(v any) frozen {
	if v == nil {
		return frozen{}
	}
	f := freezer{met: map[meeting]int{}}
	return f.freeze(reflect.ValueOf(v))
}

type freezer struct {
	met    map[meeting]int // pointers and maps, by their order of occurrence
	slices []meeting       // the slices that contain the present value
}

// meeting identifies a pointer, a map or a slice.
type meeting struct {
	at  unsafe.Pointer
	typ reflect.Type
	len int
}

func (f *freezer) freeze(v reflect.Value) frozen {
	v = readable(v)
	out := frozen{typ: v.Type()}
	switch v.Kind() {
	case reflect.Bool:
		out.leaf = strconv.FormatBool(v.Bool())
	case reflect.String:
		out.leaf = v.String()
	case reflect.Interface:
		if v.IsNil() {
			out.leaf = "nil"
			return out
		}
		out.add("", f.freeze(v.Elem()))
	case reflect.Pointer:
		f.pointer(&out, v)
	case reflect.Struct:
		for i := range v.NumField() {
			out.add("."+v.Type().Field(i).Name, f.freeze(v.Field(i)))
		}
	case reflect.Slice:
		f.slice(&out, v)
	case reflect.Array:
		f.elements(&out, v, 0, v.Len(), "")
	case reflect.Map:
		f.table(&out, v)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		f.unreadable(&out, v)
	default:
		out.leaf = string(numberBits(nil, v))
	}
	return out
}

// readable returns v without the restrictions on unexported fields, and makes it addressable if
// possible.
func readable(v reflect.Value) reflect.Value {
	switch {
	case v.CanAddr() && !v.CanInterface():
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	case !v.CanAddr() && v.CanInterface():
		place := reflect.New(v.Type()).Elem()
		place.Set(v)
		return place
	}
	return v
}

func (out *frozen) add(name string, part frozen) {
	out.parts = append(out.parts, frozenPart{name, part})
}

// numberBits appends a number of any kind, bit for bit.
func numberBits(dst []byte, v reflect.Value) []byte {
	switch {
	case v.CanInt():
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int()))
	case v.CanUint():
		return binary.LittleEndian.AppendUint64(dst, v.Uint())
	case v.CanFloat():
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float()))
	}
	c := v.Complex()
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(real(c)))
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(imag(c)))
}

func isNumber(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Complex128 }

// again reports whether a pointer or map occurred before. If so, out gets its number.
func (f *freezer) again(out *frozen, v reflect.Value) bool {
	m := meeting{v.UnsafePointer(), v.Type(), 0}
	number, met := f.met[m]
	if met {
		out.leaf = fmt.Sprintf("the same as pointer %d", number)
		return true
	}
	f.met[m] = len(f.met)
	return false
}

func (f *freezer) pointer(out *frozen, v reflect.Value) {
	switch {
	case v.IsNil():
		out.leaf = "nil"
	case describesType(v.Type()):
		out.leaf = fmt.Sprint(v.UnsafePointer()) // part of the program, so equal in both runs
	case f.again(out, v):
	default:
		out.add("", f.freeze(v.Elem()))
	}
}

// describesType reports whether pointers of a type are the runtime's descriptions of types.
func describesType(t reflect.Type) bool {
	return t == reflect.TypeOf(reflect.TypeOf(0)) || t.String() == "*abi.Type"
}

func (f *freezer) slice(out *frozen, v reflect.Value) {
	if v.IsNil() {
		out.leaf = "nil"
		return
	}
	m := meeting{v.UnsafePointer(), v.Type(), v.Len()}
	if slices.Contains(f.slices, m) && v.Len() > 0 {
		out.leaf = "a slice that contains itself"
		return
	}
	f.slices = append(f.slices, m)
	defer func() { f.slices = f.slices[:len(f.slices)-1] }()
	f.elements(out, v, 0, v.Len(), "")
	if n := v.Len(); v.Cap() > n && v.Type().Elem().Kind() != reflect.Uint8 {
		f.elements(out, v.Slice(0, v.Cap()), n, v.Cap(), " beyond the slice's length")
	}
}

// elements copies the elements lo to hi-1; numbers become one leaf.
func (f *freezer) elements(out *frozen, v reflect.Value, lo, hi int, where string) {
	if isNumber(v.Type().Elem().Kind()) {
		bits := make([]byte, 0, 8*(hi-lo))
		for i := lo; i < hi; i++ {
			bits = numberBits(bits, v.Index(i))
		}
		out.add(where, frozen{typ: v.Type(), leaf: string(bits)})
		return
	}
	for i := lo; i < hi; i++ {
		out.add(fmt.Sprintf("[%d]%s", i, where), f.freeze(v.Index(i)))
	}
}

// table copies a map in the order of its keys.
func (f *freezer) table(out *frozen, v reflect.Value) {
	switch {
	case v.IsNil():
		out.leaf = "nil"
		return
	case f.again(out, v):
		return
	}
	type pair struct {
		key  string
		of   reflect.Value
		held reflect.Value
	}
	var pairs []pair
	for i := v.MapRange(); i.Next(); {
		key := freezer{met: map[meeting]int{}} // separate, because the order is not known yet
		k := key.freeze(i.Key())
		if len(key.met) > 0 && v.Len() > 1 {
			out.opaque = "a map whose keys are pointers, which have no order"
			return
		}
		pairs = append(pairs, pair{fmt.Sprintf("%v", k), i.Key(), i.Value()})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	for _, p := range pairs {
		out.add("[key]", f.freeze(p.of))
		out.add(fmt.Sprintf("[%v]", p.of), f.freeze(p.held))
	}
}

// unreadable represents a value whose content cannot be read: a function, a channel or an unsafe
// pointer. Two such values can be compared only if they are nil or the same object.
func (f *freezer) unreadable(out *frozen, v reflect.Value) {
	switch {
	case v.IsNil():
		out.leaf = "nil"
		return
	case v.Kind() == reflect.Func:
		out.opaque = "a function, whose captured variables cannot be read: return its result instead"
		// The address of a closure's variables identifies it; its code does not.
		out.leaf = fmt.Sprint(*(*unsafe.Pointer)(unsafe.Pointer(v.UnsafeAddr())))
	case v.Kind() == reflect.Chan:
		out.opaque =
			"a channel, whose contents cannot be read without removing them: return its contents instead"
		out.leaf = fmt.Sprint(v.UnsafePointer())
	default:
		out.opaque = "an unsafe pointer, whose target is unknown"
		out.leaf = fmt.Sprint(v.UnsafePointer())
	}
}

// difference describes where two frozen values differ, or which part cannot be compared. It is
// empty if they are equal.
func (a frozen) difference(b frozen) string { return a.differenceAt(b, "") }

func (a frozen) differenceAt(b frozen, path string) string {
	at := cmp.Or(path, "the value")
	switch {
	case a.typ != b.typ:
		return fmt.Sprintf("%s is of type %v | %v", at, a.typ, b.typ)
	case a.opaque != "" || b.opaque != "":
		if a.leaf != "" && a.leaf == b.leaf {
			return "" // one and the same object
		}
		return fmt.Sprintf("%s cannot be compared: it is %s", at, cmp.Or(a.opaque, b.opaque))
	case a.leaf != b.leaf:
		return fmt.Sprintf("%s is %s | %s", at, a.show(), b.show())
	case len(a.parts) != len(b.parts):
		return fmt.Sprintf("%s has %d parts | %d", at, len(a.parts), len(b.parts))
	}
	for i := range a.parts {
		if d := a.parts[i].differenceAt(b.parts[i].frozen, path+a.parts[i].name); d != "" {
			return d
		}
	}
	return ""
}

// show returns a readable form of a leaf.
func (a frozen) show() string {
	const most = 6
	t := a.typ
	if t == nil {
		return "nil"
	}
	if k := t.Kind(); k == reflect.Slice || k == reflect.Array {
		t = t.Elem()
	}
	if !isNumber(t.Kind()) || a.leaf == "nil" {
		return brief(fmt.Sprintf("%q", a.leaf))
	}
	var list []any
	for bits := []byte(a.leaf); len(bits) >= 8 && len(list) < most; bits = bits[8:] {
		word := binary.LittleEndian.Uint64(bits)
		switch {
		case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
			list = append(list, math.Float64frombits(word))
		default:
			list = append(list, int64(word))
		}
	}
	if n := len(a.leaf) / 8; n != 1 {
		return fmt.Sprintf("%d numbers, the first of them %v", n, list)
	}
	return fmt.Sprint(list[0])
}

func brief(s string) string {
	const most = 300
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

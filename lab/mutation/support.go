package main

// support is added to a package with changes. It turns on the change that MUTANT names. If
// MUTANT_TRACE names a file, it appends the number of each change that the program reaches.
const support = `

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	on__, _  = strconv.Atoi(os.Getenv("MUTANT"))
	trace__  = opened__(os.Getenv("MUTANT_TRACE"))
	traced__ [1 << 16]atomic.Bool
)

func opened__(path string) *os.File {
	if path == "" {
		return nil
	}
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	return f
}

func is__(id int) bool {
	if trace__ != nil && !traced__[id&(1<<16-1)].Swap(true) {
		_, _ = trace__.WriteString(strconv.Itoa(id) + "\n")
	}
	return id == on__
}

func often__(id int) int {
	if is__(id) {
		return 2
	}
	return 1
}

type number__ interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~uintptr | ~float32 | ~float64
}

func less__[T number__](id int, a, b T) bool  { return a < b || is__(id) && a == b }
func most__[T number__](id int, a, b T) bool  { return a < b || !is__(id) && a == b }
func more__[T number__](id int, a, b T) bool  { return a > b || is__(id) && a == b }
func least__[T number__](id int, a, b T) bool { return a > b || !is__(id) && a == b }

func plus__[T number__](id int, a, b T) T {
	if is__(id) {
		return a - b
	}
	return a + b
}

func minus__[T number__](id int, a, b T) T {
	if is__(id) {
		return a + b
	}
	return a - b
}

func times__[T number__](id int, a, b T) T {
	if is__(id) {
		return a / b
	}
	return a * b
}

func over__[T number__](id int, a, b T) T {
	if is__(id) {
		return a * b
	}
	return a / b
}

func other__[T number__](one, twice, less int, x T) T {
	switch {
	case is__(one):
		return x + 1
	case is__(twice):
		return x + x
	case is__(less):
		return x - 1
	}
	return x
}

func min__[T cmp.Ordered](id int, x T, more ...T) T {
	for _, y := range more {
		if is__(id) {
			x = max(x, y)
		} else {
			x = min(x, y)
		}
	}
	return x
}

func max__[T cmp.Ordered](id int, x T, more ...T) T {
	for _, y := range more {
		if is__(id) {
			x = min(x, y)
		} else {
			x = max(x, y)
		}
	}
	return x
}

func either__[T any](id int, f, g T) T {
	if is__(id) {
		return g
	}
	return f
}

func without__[T any](id int, list []T) []T {
	for i := range list {
		if is__(id + i) {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

func zero__[T any](id int, x T) (zero T) {
	if is__(id) {
		return zero
	}
	return x
}
`

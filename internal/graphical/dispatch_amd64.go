//go:build !purego

package graphical

import has "golang.org/x/sys/cpu"

//go:generate go -C ../../device/internal/asmgen run . -part tables -out ../../../internal/graphical/tables_amd64.s -stubs ../../../internal/graphical/tables_amd64.go -pkg graphical

// vectors reports whether the kernels run on this machine. They give the bits of portable loops.
var vectors = has.X86.HasAVX2 && has.X86.HasFMA

// sumVectors is sum, after dst has been cleared.
func (v view) sumVectors(dst, table []float64) {
	n, to, from := v.times*v.run, &dst[:v.cells][0], &table[:len(v.starts)*v.times*v.run][0]
	switch {
	case !v.kept:
		sumAllAVX2(len(v.starts), &v.starts[0], n, to, from)
	case v.run == 2:
		sumPairsAVX2(len(v.starts), &v.starts[0], n, to, from)
	default:
		sumRunsAVX2(len(v.starts), &v.starts[0], v.times, v.run, to, from)
	}
}

// scaleVectors is scale.
func (v view) scaleVectors(dst, table, by []float64) {
	n, second := len(v.starts)*v.times*v.run, 0
	to, from, factors := &dst[:n][0], &table[:n][0], &by[:v.cells][0]
	if v.kept && v.run != 2 {
		scaleRunsAVX2(len(v.starts), &v.starts[0], v.times, v.run, to, from, factors)
		return
	}
	if v.kept {
		second = 1
	}
	scaleEvenAVX2(len(v.starts), &v.starts[0], v.times*v.run, second, to, from, factors)
}

// expVectors sets the first numbers of dst to e^(x−top), where no x is above top, and returns how
// many there are. It stops before a group of four that has no normal power.
func expVectors(dst, x []float64, top float64) int {
	n := len(x) &^ 3
	if n == 0 || !vectors {
		return 0
	}
	return expAVX2(n, &dst[:n][0], &x[0], top)
}

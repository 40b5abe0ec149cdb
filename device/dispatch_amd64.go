//go:build !purego

package device

import (
	"math"

	has "golang.org/x/sys/cpu"
)

//go:generate go -C internal/asmgen run . -part gemm -out ../../gemm_amd64.s -stubs ../../gemm_amd64.go -pkg device
//go:generate go -C internal/asmgen run . -part pack -out ../../pack_amd64.s -stubs ../../pack_amd64.go -pkg device
//go:generate go -C internal/asmgen run . -part thin -out ../../thin_amd64.s -stubs ../../thin_amd64.go -pkg device
//go:generate go -C internal/asmgen run . -part outer -out ../../outer_amd64.s -stubs ../../outer_amd64.go -pkg device
//go:generate go -C internal/asmgen run . -part vector -out ../../vector_amd64.s -stubs ../../vector_amd64.go -pkg device
//go:generate go -C internal/asmgen run . -part image -out ../../image_amd64.s -stubs ../../image_amd64.go -pkg device

// The kernels for arm64 are translated from vector_amd64.s, so they are generated last.
//go:generate go -C internal/asmgen run . -part neon -from ../../vector_amd64.s -out ../../neon_arm64.s -stubs ../../neon_arm64.go -pkg device

// fastest returns the fastest set of kernels for this machine.
func fastest() *kernels {
	levels := available()
	return levels[len(levels)-1]
}

// available returns the sets of kernels that this machine can run, slowest first.
func available() []*kernels {
	levels := []*kernels{generic()}
	if has.X86.HasAVX2 && has.X86.HasFMA {
		levels = append(levels, avx2())
		if has.X86.HasAVX512F && has.X86.HasAVX512VL && has.X86.HasAVX512DQ && has.X86.HasAVX512BW {
			levels = append(levels, avx512())
		}
	}
	return levels
}

func avx2() *kernels {
	k := generic()
	k.name = "avx2"
	k.gemm = gemmKernels{
		rows: 6, lanes: 8, deepNN: 400, deepTN: 256, copyTN: 150,
		tile: [15][3]tileKernel{
			1: {1: gemmAVX2_1x1, 2: gemmAVX2_1x2}, 2: {1: gemmAVX2_2x1, 2: gemmAVX2_2x2},
			3: {1: gemmAVX2_3x1, 2: gemmAVX2_3x2},
			4: {1: gemmAVX2_4x1, 2: gemmAVX2_4x2}, 5: {1: gemmAVX2_5x1, 2: gemmAVX2_5x2},
			6: {1: gemmAVX2_6x1, 2: gemmAVX2_6x2},
		},
		packColumns: packColumnsAVX2,
		thinOne: [thinCols + 1]thinKernel{1: thin1x1AVX2, 2: thin1x2AVX2, 3: thin1x3AVX2,
			4: thin1x4AVX2},
		thinMany: [thinCols + 1]thinKernel{1: thin4x1AVX2, 2: thin4x2AVX2, 3: thin3x3AVX2,
			4: thin2x4AVX2},
	}
	k.gemm.packRows[1], k.gemm.packRows[2] = packRowsAVX2_1, packRowsAVX2_2
	k.gemm.long = [longRows + 1][9]tileKernel{
		1: {1: gemmAVX2_1x1_long, 2: gemmAVX2_1x2_long, 4: gemmAVX2_1x4_long},
		2: {1: gemmAVX2_2x1_long, 2: gemmAVX2_2x2_long, 4: gemmAVX2_2x4_long},
	}
	k.gemm.thinSix = thin6x2AVX2
	k.gemm.splitPairs, k.gemm.joinPairs = splitPairsAVX2, joinPairsAVX2
	k.gemm.outer = [outerDeep + 1]outerKernel{1: outerAVX2_1, 2: outerAVX2_2}
	useAVX2(k)
	return k
}

func avx512() *kernels {
	k := avx2()
	k.name = "avx512"
	k.gemm = gemmKernels{
		rows: 14, lanes: 16, deepNN: 1024, deepTN: 256, copyTN: math.MaxInt,
		tile: [15][3]tileKernel{
			1: {1: gemmAVX512_1x1, 2: gemmAVX512_1x2}, 2: {1: gemmAVX512_2x1, 2: gemmAVX512_2x2},
			3: {1: gemmAVX512_3x1, 2: gemmAVX512_3x2},
			4: {1: gemmAVX512_4x1, 2: gemmAVX512_4x2}, 5: {1: gemmAVX512_5x1, 2: gemmAVX512_5x2},
			6: {1: gemmAVX512_6x1, 2: gemmAVX512_6x2},
			7: {1: gemmAVX512_7x1, 2: gemmAVX512_7x2}, 8: {1: gemmAVX512_8x1, 2: gemmAVX512_8x2},
			9:  {1: gemmAVX512_9x1, 2: gemmAVX512_9x2},
			10: {1: gemmAVX512_10x1, 2: gemmAVX512_10x2}, 11: {1: gemmAVX512_11x1, 2: gemmAVX512_11x2},
			12: {1: gemmAVX512_12x1, 2: gemmAVX512_12x2},
			13: {1: gemmAVX512_13x1, 2: gemmAVX512_13x2}, 14: {1: gemmAVX512_14x1, 2: gemmAVX512_14x2},
		},
		packColumns: packColumnsAVX2,
		thinOne: [thinCols + 1]thinKernel{1: thin1x1AVX2, 2: thin1x2AVX2, 3: thin1x3AVX2,
			4: thin1x4AVX2},
		thinMany: [thinCols + 1]thinKernel{1: thin4x1AVX2, 2: thin4x2AVX2, 3: thin3x3AVX2,
			4: thin2x4AVX2},
	}
	if has.X86.HasAMXTile { // an Intel Xeon of this kind is faster with short parts, a Zen 4 is not
		k.gemm.deepNN, k.gemm.deepTN = 512, 96
	}
	k.gemm.packRows[1], k.gemm.packRows[2] = packRowsAVX512_1, packRowsAVX512_2
	k.gemm.long = [longRows + 1][9]tileKernel{
		1: {1: gemmAVX512_1x1_long, 2: gemmAVX512_1x2_long, 4: gemmAVX512_1x4_long,
			8: gemmAVX512_1x8_long},
		2: {1: gemmAVX512_2x1_long, 2: gemmAVX512_2x2_long, 3: gemmAVX512_2x3_long,
			4: gemmAVX512_2x4_long, 5: gemmAVX512_2x5_long, 6: gemmAVX512_2x6_long,
			7: gemmAVX512_2x7_long, 8: gemmAVX512_2x8_long},
	}
	k.gemm.thinSix = thin6x2AVX2
	k.gemm.splitPairs, k.gemm.joinPairs = splitPairsAVX2, joinPairsAVX2
	k.gemm.outer = [outerDeep + 1]outerKernel{1: outerAVX512_1, 2: outerAVX512_2}
	ahead := k.gemm
	ahead.tile[14][2] = gemmAVX512_14x2_ahead
	k.ahead = &ahead
	useWideVectors(k)
	return k
}

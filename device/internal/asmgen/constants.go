package main

import (
	"math"
	"reflect"
	"runtime"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// constants collects 32-bit patterns. Each pattern is repeated over a vector of sixteen lanes, so
// every instruction can read it from memory.
type constants struct {
	at    map[uint32]int
	order []uint32
}

const constantsName = "vectorConstants"

// bits returns the address of a vector that repeats a bit pattern.
func (c *constants) bits(b uint32) Mem {
	if c.at == nil {
		c.at = map[uint32]int{}
	}
	if _, ok := c.at[b]; !ok {
		c.at[b] = len(c.order)
		c.order = append(c.order, b)
	}
	return NewDataAddr(NewStaticSymbol(constantsName), 64*c.at[b])
}

// f returns the address of a vector that repeats a number.
func (c *constants) f(v float64) Mem { return c.bits(math.Float32bits(float32(v))) }

// inConstants reports whether an operand is the address of a constant.
func inConstants(o Op) bool {
	m, ok := o.(Mem)
	return ok && m.Symbol.Name == constantsName
}

// broadcast returns the form of an instruction that reads one lane of a constant. A linker aligns
// the constants to 32 bytes at most, so half of all programs would read every vector of 64 bytes
// from two lines of the cache.
func broadcast(instruction any) any {
	for _, pair := range [][2]any{{VMOVUPS, VBROADCASTSS}, {VADDPS, VADDPS_BCST},
		{VSUBPS, VSUBPS_BCST}, {VMULPS, VMULPS_BCST}, {VFMADD213PS, VFMADD213PS_BCST},
		{VFMADD231PS, VFMADD231PS_BCST}, {VFNMADD231PS, VFNMADD231PS_BCST}, {VANDPS, VANDPS_BCST},
		{VORPS, VORPS_BCST}, {VXORPS, VXORPS_BCST}, {VPADDD, VPADDD_BCST}, {VPSUBD, VPSUBD_BCST}} {
		if reflect.ValueOf(pair[0]).Pointer() == reflect.ValueOf(instruction).Pointer() {
			return pair[1]
		}
	}
	name := runtime.FuncForPC(reflect.ValueOf(instruction).Pointer()).Name()
	panic("asmgen: no form of " + name + " reads one lane")
}

// write writes the constants to the file.
func (c *constants) write() {
	GLOBL(constantsName, attr.RODATA|attr.NOPTR)
	for i, b := range c.order {
		for lane := range 16 {
			DATA(64*i+4*lane, U32(b))
		}
	}
}

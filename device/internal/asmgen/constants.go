package main

import (
	"math"

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

// write writes the constants to the file.
func (c *constants) write() {
	GLOBL(constantsName, attr.RODATA|attr.NOPTR)
	for i, b := range c.order {
		for lane := range 16 {
			DATA(64*i+4*lane, U32(b))
		}
	}
}

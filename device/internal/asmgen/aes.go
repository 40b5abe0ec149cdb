package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// cipherRounds is the number of round keys of AES-256 after the first one.
const cipherRounds = 14

// aes writes the kernels of package entropy: the key schedule of AES-256, and its keystream in
// counter mode with four blocks in a register. The results equal the results of package crypto/aes.
func aes() {
	schedule()
	keystream()
	writeCounterTables()
}

// schedule expands a key (FIPS 197, section 5.2) without tables, because the time of
// AESKEYGENASSIST does not depend on the key.
func schedule() {
	TEXT("expandKeyAES", NOSPLIT, "func(key, schedule *byte)")
	Doc("expandKeyAES writes the fifteen round keys for a key of 32 bytes.")
	Pragma("noescape")
	key, to := pointer("key"), pointer("schedule")
	even, odd, help := XMM(), XMM(), XMM()
	VMOVDQU(Mem{Base: key}, even)
	VMOVDQU(Mem{Base: key, Disp: 16}, odd)
	VMOVDQU(even, Mem{Base: to})
	VMOVDQU(odd, Mem{Base: to, Disp: 16})
	for round, rcon := 2, uint8(1); round <= cipherRounds; round++ {
		part, word := even, uint8(0xff) // RotWord(SubWord(last)) ⊕ rcon
		if round%2 == 0 {
			VAESKEYGENASSIST(U8(rcon), odd, help)
			rcon <<= 1
		} else {
			part, word = odd, 0xaa // SubWord(last)
			VAESKEYGENASSIST(U8(0), even, help)
		}
		VPSHUFD(U8(word), help, help)
		shifted := XMM()
		VPSLLDQ(U8(4), part, shifted)
		VPXOR(shifted, part, part)
		VPSLLDQ(U8(8), part, shifted)
		VPXOR(shifted, part, part)
		VPXOR(help, part, part)
		VMOVDQU(part, Mem{Base: to, Disp: 16 * round})
	}
	RET()
}

// keystream encrypts counter blocks. A block begins with eight fixed bytes, given by the argument
// named first. The number of the block follows in eight bytes, most significant byte first. Numbers
// increase by one with each block and must not wrap around.
func keystream() {
	TEXT("keystreamVAES", NOSPLIT, "func(n int, dst, schedule *byte, first, number uint64)")
	Doc("keystreamVAES writes n times 64 bytes of keystream, beginning with the block of the given number.",
		"Every counter block begins with the eight bytes of first, least significant byte first.")
	Pragma("noescape")
	n, dst, schedule := pointer("n"), pointer("dst"), pointer("schedule")
	keys, counter := roundKeys(schedule), counterBlocks()
	four, reverse := ZMM(), ZMM()
	VMOVDQU64(counterTable(1), four)
	VMOVDQU64(counterTable(2), reverse)
	for _, vectors := range []int{8, 1} { // eight registers hide the latency of a round
		label, behind := map[int]string{8: "eight", 1: "one"}[vectors],
			map[int]string{8: "few", 1: "end"}[vectors]
		SUBQ(U8(vectors), n)
		JL(LabelRef(behind))
		Label(label)
		blocks := make([]VecVirtual, vectors)
		for i := range blocks {
			blocks[i] = ZMM()
			VPSHUFB(reverse, counter, blocks[i])
			VPADDQ(four, counter, counter)
		}
		encrypt(blocks, keys)
		for i, x := range blocks {
			VMOVDQU64(x, Mem{Base: dst, Disp: 64 * i})
		}
		ADDQ(U32(64*vectors), dst)
		SUBQ(U8(vectors), n)
		JGE(LabelRef(label))
		Label(behind)
		ADDQ(U8(vectors), n)
	}
	VZEROUPPER()
	RET()
}

// roundKeys returns the fifteen round keys, each in every lane of a register.
func roundKeys(schedule GPVirtual) []VecVirtual {
	keys := make([]VecVirtual, cipherRounds+1)
	for i := range keys {
		keys[i] = ZMM()
		VBROADCASTI32X4(Mem{Base: schedule, Disp: 16 * i}, keys[i])
	}
	return keys
}

// counterBlocks returns the first four counter blocks, computed from the arguments first and
// number. Numbers have their least significant byte first.
func counterBlocks() VecVirtual {
	counter, head, low := ZMM(), XMM(), XMM()
	VMOVQ(argument("first"), head)
	VMOVQ(argument("number"), low)
	VPUNPCKLQDQ(low, head, head)
	VSHUFI32X4(U8(0), head.AsZ(), head.AsZ(), counter)
	VPADDQ(counterTable(0), counter, counter)
	return counter
}

// encrypt encrypts several blocks at the same time, round by round.
func encrypt(blocks, keys []VecVirtual) {
	for _, x := range blocks {
		VPXORQ(keys[0], x, x)
	}
	for round := 1; round < cipherRounds; round++ {
		for _, x := range blocks {
			VAESENC(keys[round], x, x)
		}
	}
	for _, x := range blocks {
		VAESENCLAST(keys[cipherRounds], x, x)
	}
}

// counterTable returns the address of table i of writeCounterTables.
func counterTable(i int) Mem { return NewDataAddr(NewStaticSymbol(counterTables), 64*i) }

const counterTables = "counterTables"

// writeCounterTables writes three tables: the numbers added to number for the first four blocks,
// the numbers added for every further four blocks, and the order of the bytes of a block.
func writeCounterTables() {
	GLOBL(counterTables, attr.RODATA|attr.NOPTR)
	const swapped = 0x08090a0b0c0d0e0f // the last eight bytes in reverse order
	for i, pair := range [3]func(lane int) (first, last uint64){
		func(lane int) (first, last uint64) { return 0, uint64(lane) },
		func(int) (first, last uint64) { return 0, 4 },
		func(int) (first, last uint64) { return 0x0706050403020100, swapped },
	} {
		for lane := range 4 {
			first, last := pair(lane)
			DATA(64*i+16*lane, U64(first))
			DATA(64*i+16*lane+8, U64(last))
		}
	}
}

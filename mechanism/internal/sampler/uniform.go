package sampler

import (
	"math/big"
	"math/bits"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// UniformBelow returns an exactly uniform whole number in [0,n). Source: Lemire 2019.
func UniformBelow(n uint64, src entropy.Bits) uint64 {
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for least := -n % n; lo < least; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}

// lazy is a uniform number in [0,1) whose first 64 bits are known. Further bits are drawn when they
// are needed.
type lazy struct {
	head uint64
	tail []uint64
}

// less compares two independent numbers, drawing further bits on a tie.
func less(a, b *lazy, bits entropy.Bits) bool {
	if a.head != b.head {
		return a.head < b.head
	}
	for i := 0; ; i++ {
		x, y := a.word(i, bits), b.word(i, bits)
		if x != y {
			return x < y
		}
	}
}

func (l *lazy) word(i int, bits entropy.Bits) uint64 {
	for len(l.tail) <= i {
		l.tail = append(l.tail, bits.Uint64())
	}
	return l.tail[i]
}

// digits is a number that is known to lie in [n, n+1] ÷ 2^count.
type digits struct {
	n     *big.Int
	count uint
	bits  entropy.Bits
}

func newDigits(head uint64, count uint, bits entropy.Bits) *digits {
	return &digits{n: new(big.Int).SetUint64(head), count: count, bits: bits}
}

// digitsOf returns the known digits of a lazy number; extend draws more.
func digitsOf(l *lazy, bits entropy.Bits) *digits {
	d := newDigits(l.head, 64, bits)
	for _, w := range l.tail {
		d.push(w)
	}
	return d
}

// lazy returns the digits as a lazy number.
func (d *digits) lazy() lazy {
	words := int(d.count / 64)
	l := lazy{tail: make([]uint64, words-1)}
	rest := new(big.Int).Set(d.n)
	mask := new(big.Int).SetUint64(1<<64 - 1)
	for i := words - 1; i > 0; i-- {
		l.tail[i-1] = new(big.Int).And(rest, mask).Uint64()
		rest.Rsh(rest, 64)
	}
	l.head = rest.Uint64()
	return l
}

func (d *digits) push(w uint64) {
	d.n.Lsh(d.n, 64).Or(d.n, new(big.Int).SetUint64(w))
	d.count += 64
}

func (d *digits) extend() { d.push(d.bits.Uint64()) }

func (d *digits) bounds() (lo, hi *big.Rat) {
	scale := new(big.Int).Lsh(big.NewInt(1), d.count)
	above := new(big.Int).Add(d.n, big.NewInt(1))
	return new(big.Rat).SetFrac(d.n, scale), new(big.Rat).SetFrac(above, scale)
}

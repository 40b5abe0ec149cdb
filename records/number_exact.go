package records

import (
	"math"
	"math/big"
	"sync"
)

// strconv takes up to twenty microseconds for a number that is close to zero or has more digits
// than 64 bits hold. A compressed file of less than 1 MB can hold a million such numbers. This file
// computes such a number faster, as the quotient of two whole numbers.

// slow reports whether strconv may take long for 0.DIGITS * 10^magnitude.
func slow(digits []byte, magnitude, bits int) bool {
	least := -306 // smaller numbers may be subnormal
	if bits == 32 {
		least = -36
	}
	return len(digits) > 19 || magnitude < least
}

// vanishes reports whether every number 0.DIGITS * 10^magnitude with this magnitude rounds to zero,
// or there are no digits.
func vanishes(digits []byte, magnitude, bits int) bool {
	least := -324
	if bits == 32 {
		least = -46
	}
	return len(digits) == 0 || magnitude <= least
}

// quotient holds the parts of a number that is being computed. They are reused for the next number.
// No result overwrites an argument, since package big would then allocate memory.
type quotient struct{ digits, above, below, whole, rest, word, ten big.Int }

var quotients = sync.Pool{New: func() any { return new(quotient) }}

// exactNumber returns the float nearest to 0.DIGITS * 10^magnitude, and the even one if two are
// equally near. A point may be among the digits. The number must be finite, and vanishes must be
// false for it.
func exactNumber(digits []byte, magnitude, bits int) float64 {
	mantissa, exponent := 53, -1074 // of subnormal numbers
	if bits == 32 {
		mantissa, exponent = 24, -149
	}
	q := quotients.Get().(*quotient)
	defer quotients.Put(q)
	q.set(digits, magnitude)
	exponent = max(exponent, q.above.BitLen()-q.below.BitLen()-mantissa)
	if exponent < 0 {
		q.above.Lsh(&q.above, uint(-exponent))
	} else {
		q.below.Lsh(&q.below, uint(exponent))
	}
	q.whole.QuoRem(&q.above, &q.below, &q.rest)
	whole := q.whole.Uint64() // of mantissa bits, or one more
	half := q.rest.Lsh(&q.rest, 1).Cmp(&q.below)
	if whole>>mantissa != 0 {
		if half = q.rest.Sign(); whole&1 == 0 {
			half = -1
		}
		whole, exponent = whole>>1, exponent+1
	}
	if half > 0 || half == 0 && whole&1 == 1 {
		whole++
	}
	return math.Ldexp(float64(whole), exponent)
}

// set makes the quotient 0.DIGITS * 10^magnitude.
func (q *quotient) set(digits []byte, magnitude int) {
	const most = 18 // digits that are read at a time
	q.digits.SetUint64(0)
	q.below.SetUint64(1)
	word, scale, n := uint64(0), uint64(1), 0
	for i, c := range digits {
		if c != '.' {
			word, scale, n = 10*word+uint64(c-'0'), 10*scale, n+1
		}
		if n > 0 && n%most == 0 || i == len(digits)-1 {
			q.digits.Mul(&q.digits, q.word.SetUint64(scale))
			q.digits.Add(&q.digits, q.word.SetUint64(word))
			word, scale = 0, 1
		}
	}
	if magnitude >= n {
		q.above.Mul(&q.digits, q.power(magnitude-n))
	} else {
		q.above.Set(&q.digits)
		q.below.Set(q.power(n - magnitude))
	}
}

// power returns a power of ten, valid until the next call.
func (q *quotient) power(n int) *big.Int {
	if list := tens(); n < len(list) {
		return &list[n]
	}
	return q.ten.Exp(q.word.SetUint64(10), q.rest.SetUint64(uint64(n)), nil)
}

// tens are the powers of ten that numbers of up to 90 digits need.
var tens = sync.OnceValue(func() []big.Int {
	list := make([]big.Int, 420)
	list[0].SetUint64(1)
	for i := 1; i < len(list); i++ {
		list[i].Mul(&list[i-1], big.NewInt(10))
	}
	return list
})

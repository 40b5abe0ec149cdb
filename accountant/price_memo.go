package accountant

import (
	"fmt"
	"sync"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// prices caches the prices of compositions. A plan is priced when it is made, when it is reserved
// and when its guarantee is requested. A service also makes the same plan many times. A price
// depends only on the arguments in its key, so a cached price equals the price that would be
// computed.
//
// allocations caches the sums that the price of an epoch begins with: a curve asks for many prices.
var (
	prices      = memo[Price]{most: 512}
	allocations = memo[*pld.Allocation]{most: 12} // at most 200 kB each
)

// memo keeps values by key, in two generations of at most the given number.
type memo[V any] struct {
	most          int
	mu            sync.Mutex
	recent, older map[string]V
}

// memoKey is the length of the longest key of a price, so that prices take less than 2 MB in all.
const memoKey = 1 << 10

// usesOfSums caches what single uses add to sums: a ledger adds an event when it is quoted and
// again when it is reserved. An entry takes up to 16 KiB.
var usesOfSums = memo[*pld.Use]{most: 64}

// useOf returns what one use of an atom adds to sums, or nil.
func useOf(aim *pld.Aim, a atom) *pld.Use {
	key := fmt.Sprintf("%b %b %s", aim.Epsilon, aim.Delta, a.key())
	u, ok := usesOfSums.find(key)
	if !ok {
		if p := a.pairs(); p != nil {
			u = aim.Use(p)
		}
		usesOfSums.keep(key, u)
	}
	return u
}

// priceKey returns different keys for different arguments of priceWith. It returns false if the key
// is too long to keep.
func priceKey(terms []term, delta float64, r Relation, lower bool) (string, bool) {
	if len(terms) > 64 {
		return "", false
	}
	key := fmt.Sprintf("%b %d %t %s", delta, r, lower, termsKey(terms))
	return key, len(key) <= memoKey
}

func (m *memo[V]) find(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.recent[key]
	if !ok {
		if p, ok = m.older[key]; ok {
			m.keepLocked(key, p)
		}
	}
	return p, ok
}

func (m *memo[V]) keep(key string, p V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepLocked(key, p)
}

func (m *memo[V]) keepLocked(key string, p V) {
	if len(m.recent) >= m.most {
		m.older, m.recent = m.recent, nil
	}
	if m.recent == nil {
		m.recent = map[string]V{}
	}
	m.recent[key] = p
}

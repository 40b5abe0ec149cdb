package accountant

import (
	"fmt"
	"sync"
)

// priceMemo caches the prices of compositions. A plan is priced when it is made, when it is
// reserved and when its guarantee is requested. A service also makes the same plan many times. A
// price depends only on the arguments in its key, so a cached price equals the price that would be
// computed.
type priceMemo struct {
	mu            sync.Mutex
	recent, older map[string]Price
}

var prices priceMemo

// Two generations of prices are kept, only for short keys: less than 2 MB in all.
const (
	memoAnswers = 512
	memoKey     = 1 << 10
)

// priceKey returns different keys for different arguments of priceWith. It returns false if the key
// is too long to keep.
func priceKey(terms []term, delta float64, r Relation, lower bool) (string, bool) {
	if len(terms) > 64 {
		return "", false
	}
	key := fmt.Sprintf("%b %d %t %s", delta, r, lower, termsKey(terms))
	return key, len(key) <= memoKey
}

func (m *priceMemo) find(key string) (Price, bool) {
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

func (m *priceMemo) keep(key string, p Price) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepLocked(key, p)
}

func (m *priceMemo) keepLocked(key string, p Price) {
	if len(m.recent) >= memoAnswers {
		m.older, m.recent = m.recent, nil
	}
	if m.recent == nil {
		m.recent = map[string]Price{}
	}
	m.recent[key] = p
}

// forget empties the cache, for benchmarks of first prices.
func (m *priceMemo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recent, m.older = nil, nil
}

package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Ledger holds a budget and the list of everything reserved from it. It prices a request before
// reserving it, and never refunds: the published cost counts every reservation in full, used or
// not. So a run may stop early for any reason, including its own outputs, without changing the
// guarantee.
//
// A Ledger is safe for concurrent use.
type Ledger struct{ *book } // one pointer, so that a copy by value is the same ledger

// book is what a ledger holds.
type book struct {
	self   *Ledger       // not a copy of it
	shared *ledgerShared // the lock and the check, common to a ledger and its children
	budget accountant.Budget
	fault  error // of the budget

	entries []*entry
	groups  []*partGroup
	index   map[string]*entry

	transactions []*placedTransaction // those with an ID, in order
	named        map[string]*placedTransaction

	notPrivate string
	unit       string // unit whose presence is protected; empty for a record
	policy     func(Request) error
	approve    func(Request) ([]string, error) // of the outermost ledger
	filter     float64                         // order of the Rényi filter; 0 when off
	spending   bool                            // something has been taken

	parent *Ledger // of a part; nil otherwise
	place  partOf  // in the parent

	version   uint64              // increases with every change of the reservations
	reduced   *accountant.Reduced // everything reserved; nil unless the entries are of a guarantee
	published cachedBound
	bracket   cachedBound // published, with its lower end
	printed   float64     // the largest ε that was returned
	headroom  headroom
	running   running
	sum       *accountant.Reduced // what runningWith returned, of a copy for a quote
	held      holdings
	soFar     soFarCache
}

// ledgerShared is the state shared by a family of ledgers: an outermost ledger and its children.
type ledgerShared struct {
	reserve turn       // one reservation at a time, held while the policy is asked
	state   sync.Mutex // every field of every ledger of the family
	root    *Ledger
	journal *journaled // nil for a ledger in memory
	events  eventMemo  // of lines that were read; guarded by state
	parts   int        // opened by lines
}

type entry struct {
	purpose string
	// the ledger's own copy, never returned, so that callers cannot change the priced event
	event  accountant.Event
	key    string // canonical text of the event
	number int    // among the ledger's entries
	spent  int
	// reserved never shrinks.
	reserved int
	late     bool
	notes    []NoiseClass

	owned, ownedSpent int // the shares of reserved and spent that belong to transactions with an ID

	// ahead is the number of uses in spent, outside transactions with an ID, that are not handed out
	// yet.
	ahead int
	lines *LineSpan // of the journal; nil without one
}

type cachedBound struct {
	version uint64
	valid   bool
	result  accountant.Price
	err     error
}

// NoiseClass describes how closely an implementation's noise follows the priced mechanism.
type NoiseClass string

const (
	// ExactNoise means fixed-point sums and exactly sampled noise: the released bits have exactly the
	// distribution that the ledger priced.
	ExactNoise NoiseClass = "exact"
	// RealNoise means sums in floating point, or sums of numbers whose last bits may depend on
	// other records, with grid-aligned noise.
	RealNoise NoiseClass = "real"
)

// meaning describes the class.
func (c NoiseClass) meaning() string {
	switch c {
	case ExactNoise:
		return "exact: sums in fixed point, noise sampled exactly on a public grid"
	case RealNoise:
		return "real: float32 sums, or results on a device that does not promise independence from " +
			"other records: one record may move a gradient sum over B records by the sensitivity and up " +
			"to 2^-23·B² of the sensitivity more; for assignments and features there is no such bound"
	}
	return string(c)
}

// Request is a reservation that a policy decides about. The event is a copy, which the policy
// may keep.
type Request struct {
	Purpose  string
	Event    accountant.Event
	Count    int
	Relation accountant.Relation
}

// Option changes how a ledger decides, never the price of events.
type Option func(*Ledger)

// WithPolicy installs a policy, by which a service with a central budget can refuse a reservation.
// It is called after the ledger's own check has passed and before anything is reserved, one call at
// a time; a nil result permits the reservation. It must not reserve on the same ledger.
func WithPolicy(policy func(Request) error) Option {
	return func(l *Ledger) { l.policy = policy }
}

// WithUnit names the unit whose presence or content the guarantee protects: "record", the default,
// or "user". A user is whoever owns several rows: a person, a household, a device. The unit is an
// assertion about the data and changes no price. It is true only if all rows of each user are
// bounded, clipped and sampled as one record, in everything that the ledger pays for. Algorithms
// that know the unit of their records return an error if the ledger claims more. A ledger of any
// other unit refuses every reservation.
func WithUnit(unit string) Option {
	return func(l *Ledger) {
		if err := l.setUnit("ledger.WithUnit.unit", unit); err != nil {
			l.fault = err
		}
	}
}

const (
	recordUnit = "record"
	userUnit   = "user"
)

// setUnit accepts the units that a guarantee can state.
func (l *Ledger) setUnit(path, unit string) error {
	if unit == recordUnit {
		unit = "" // the default has one representation
	}
	l.unit = unit
	return checkUnit(path, unit)
}

func checkUnit(path, unit string) error {
	if unit != "" && unit != recordUnit && unit != userUnit {
		return param.New(path, fmt.Sprintf("%.40q", unit), recordUnit+" or "+userUnit)
	}
	return nil
}

// WithFilter makes the ledger a Rényi filter of one fixed order. Use it if parameters of later
// events (noise, sampling, whether to continue) are chosen after seeing earlier releases.
// Everything is then priced at that order only. Choose the order before the first release. The
// amount reserved may depend on releases, so Epsilon publishes the whole budget from the first
// reservation on. Events with their own δ are not supported. Source: Feldman and Zrnic 2021.
func WithFilter(order float64) Option {
	return func(l *Ledger) {
		l.filter = order
		if err := checkFilter("ledger.WithFilter.order", order); err != nil {
			l.fault = err
		}
	}
}

func checkFilter(path string, order float64) error {
	if !(order > 1.01) || order > 1e6 {
		return param.New(path, order, "a number above 1.01, at most 1e6")
	}
	return nil
}

// New returns a ledger without reservations. If the budget is invalid, every call of Reserve
// and Spend returns the budget's *param.Error values.
func New(b accountant.Budget, opts ...Option) *Ledger {
	l := &Ledger{&book{shared: &ledgerShared{reserve: newTurn()}, budget: b,
		index: map[string]*entry{}}}
	l.self, l.shared.root = l, l
	l.fault = b.Validate()
	for _, o := range opts {
		if o != nil {
			o(l)
		}
	}
	return l
}

// original returns the ledger that a struct was copied from by value, if it was: prices find the
// place of a ledger among others by its address.
func (l *Ledger) original() *Ledger {
	if l.self != nil {
		return l.self
	}
	return l // the zero value, or a ledger within a computation
}

// Budget returns the budget that the ledger was opened with.
func (l *Ledger) Budget() accountant.Budget { return l.budget }

// Relation returns the neighbouring relation of the budget.
func (l *Ledger) Relation() accountant.Relation { return l.budget.Relation }

// Reserve reserves count uses of e permanently, if they fit in the budget together with everything
// already reserved.
//
// Errors: ErrBudgetExceeded (nothing was reserved), ErrUnsupported, *param.Error, also for a new
// entry that would take the ledger beyond the limits for reading guarantees, or the policy's error.
func (l *Ledger) Reserve(purpose string, e accountant.Event, count int) (*Reservation, error) {
	l = l.original()
	if count <= 0 {
		return nil, param.New("ledger.Ledger.Reserve.count", count, "a positive integer")
	}
	if e == nil {
		return nil, param.New("ledger.Ledger.Reserve.event", nil, "an event")
	}
	own, key, err := accountant.Own(e)
	if err != nil {
		return nil, err
	}
	l.shared.reserve.Lock()
	defer l.shared.reserve.Unlock()
	return l.reserveOf(purpose, own, key, count, 0)
}

// reserveOf reserves count uses of an event with this key, and immediately takes taken of them. The
// event is the ledger's own copy. The caller holds the reserve lock.
func (l *Ledger) reserveOf(purpose string, own accountant.Event, key string,
	count, taken int) (r *Reservation, err error) {
	a := asking{ctx: context.Background(), ledger: l}
	id := purpose + "\x00" + key
	err = l.shared.commit(operation{
		decide: func() error {
			if err := l.countMore(id, count); err != nil {
				return err
			}
			if err := l.allow(purpose, own, key, count); err != nil {
				return err
			}
			return a.ask(usesOf(purpose, own, count), purpose, Request{purpose, own, count, l.Relation()})
		},
		lines: func() []*change {
			return []*change{{At: l.path(), ApprovedBy: a.names, Reserve: &changeReserve{
				l.Relation(), purpose, json.RawMessage(key), count, taken}}}
		},
		do: func() {
			r = l.setAside(purpose, id, own, key, count)
			r.entry.take(l, taken)
			r.remaining -= taken
		},
		uses: func(p string) accountant.Event { return usesOf(purpose, own, count)(p) },
	})
	return r, err
}

// countMore returns an error if count more uses would overflow an entry.
func (l *Ledger) countMore(id string, count int) error {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if en := l.index[id]; en != nil && count > maxCount-en.reserved {
		return param.New("ledger.Ledger.Reserve.count", count, "at most math.MaxInt/4 uses in total")
	}
	return nil
}

// allow checks the budget of the whole family with count more e in this ledger.
func (l *Ledger) allow(purpose string, e accountant.Event, key string, count int) error {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	root := l.shared.root
	if root.fault != nil {
		return root.fault
	}
	if err := checkPurpose("ledger.Ledger.Reserve.purpose", purpose); err != nil {
		return err
	}
	// More uses may make another part the dearest one, and so add a list to what is priced.
	if len(root.groups) > 0 || l.index[purpose+"\x00"+key] == nil {
		line := &placedLine{line: Line{Purpose: purpose, Event: e, Count: count}, key: key}
		if err := l.checkReadable(Transaction{}, []*placedLine{line}); err != nil {
			return err
		}
	}
	err := root.headroom.allow(l, e, key, count)
	if err == accountant.ErrBudgetExceeded {
		return root.overBudget(l, purpose, e, count)
	}
	if err != nil {
		return fmt.Errorf("ledger: %q: %w", purpose, err)
	}
	return nil
}

func (l *Ledger) setAside(purpose, id string, e accountant.Event, key string,
	count int) *Reservation {
	en := l.index[id]
	if en == nil {
		en = &entry{purpose: purpose, event: e, key: key, number: len(l.entries)}
		l.index[id] = en
		l.entries = append(l.entries, en)
	}
	en.late = en.late || l.shared.root.spending
	en.reserved += count
	l.shared.journal.name(en)
	root := l.shared.root
	root.headroom.took(l, key, count, root.version)
	root.version++
	return &Reservation{ledger: l, entry: en, remaining: count}
}

// Spend reserves one use of e and takes it.
//
// Errors: the errors of Reserve.
func (l *Ledger) Spend(purpose string, e accountant.Event) error {
	l = l.original()
	if l.shared.journal == nil {
		r, err := l.Reserve(purpose, e, 1)
		if err != nil {
			return err
		}
		return r.Spend()
	}
	own, key, err := accountant.Own(e)
	if err != nil {
		return err
	}
	l.shared.reserve.Lock()
	defer l.shared.reserve.Unlock()
	_, err = l.reserveOf(purpose, own, key, 1, 1) // in one line
	return err
}

// Resume returns the reserved uses of a purpose that have not been taken. It is for a run that
// continues after its ledger was saved and read back. The uses cost nothing more, since the
// reservation already counted them. A ledger cannot detect that a saved state is old. Read back the
// state that was saved together with the run's last output; otherwise uses taken after the save are
// taken twice.
//
// Errors: ErrReservationExhausted when nothing is left.
func (l *Ledger) Resume(purpose string, e accountant.Event) (*Reservation, error) {
	l = l.original()
	key, err := keyOf(e)
	if err != nil {
		return nil, err
	}
	if err := l.shared.refresh(); err != nil {
		return nil, err
	}
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	en := l.index[purpose+"\x00"+key]
	if en == nil {
		return nil, ErrReservationExhausted
	}
	left := en.left() + en.ahead // without uses of transactions, which are requested by ID
	if left <= 0 {
		return nil, ErrReservationExhausted
	}
	return &Reservation{ledger: l, entry: en, remaining: left}, nil
}

// Reservation is a number of reserved uses of one event.
type Reservation struct {
	ledger    *Ledger
	entry     *entry
	remaining int
	line      *placedLine // of a transaction; nil otherwise
}

// Spend takes one use, in constant time. Call it before the noise is drawn.
// Errors: ErrReservationExhausted when none is left.
func (r *Reservation) Spend() error {
	if j := r.ledger.shared.journal; j != nil {
		return j.spend(r)
	}
	r.ledger.shared.state.Lock()
	defer r.ledger.shared.state.Unlock()
	if r.remaining <= 0 || r.entry.spent >= r.entry.reserved {
		return ErrReservationExhausted
	}
	if !r.owned() && r.entry.spent-r.entry.ownedSpent >= r.entry.reserved-r.entry.owned {
		return ErrReservationExhausted // the remaining uses belong to transactions with an ID
	}
	if r.line != nil {
		if r.line.spent >= r.line.line.Count {
			return ErrReservationExhausted
		}
		r.line.spent++
		if r.owned() {
			r.entry.ownedSpent++
		}
	}
	r.remaining--
	r.entry.spent++
	r.ledger.shared.root.spending = true
	return nil
}

// owned reports whether the uses belong to a transaction with an ID.
func (r *Reservation) owned() bool { return r.line != nil && r.line.identified }

// Event returns the event of one use.
func (r *Reservation) Event() accountant.Event { return frozen(r.entry.event) }

// Remaining returns how many uses are left.
func (r *Reservation) Remaining() int {
	r.ledger.shared.state.Lock()
	defer r.ledger.shared.state.Unlock()
	return r.remaining
}

// Note records the class of the noise drawn for this entry; the guarantee lists every class. A
// class that is not one of the constants counts as RealNoise.
func (r *Reservation) Note(class NoiseClass) {
	if class != ExactNoise {
		class = RealNoise
	}
	s := r.ledger.shared
	s.state.Lock()
	isNew := !slices.Contains(r.entry.notes, class)
	if s.journal == nil {
		r.entry.note(class)
	}
	s.state.Unlock()
	if isNew && s.journal != nil { // the note takes effect with its line
		s.note(&change{At: r.ledger.path(), Note: &changeNote{r.entry.number, class}})
	}
}

func (en *entry) note(class NoiseClass) {
	if !slices.Contains(en.notes, class) {
		en.notes = append(en.notes, class)
	}
}

// Entry is one kind of reservation on a ledger.
type Entry struct {
	Purpose  string
	Event    accountant.Event
	Reserved int
	Spent    int
	Late     bool         // reserved, at least in part, after something had been taken
	Notes    []NoiseClass // classes of the noise drawn
}

// Entries returns the reservations, in order of first reservation. Entries of child ledgers are not
// included; see Children.
func (l *Ledger) Entries() []Entry {
	l = l.original()
	_ = l.shared.refresh() // on failure, answer from the state in memory
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	out := make([]Entry, len(l.entries))
	for i, en := range l.entries {
		out[i] = Entry{en.purpose, frozen(en.event), en.reserved, en.spent, en.late,
			append([]NoiseClass(nil), en.notes...)}
	}
	return out
}

// Epsilon returns the cost of everything set aside, at the budget's δ. The Upper end is the
// published value. The cost is infinite if the ledger is in a journal that cannot be read.
func (l *Ledger) Epsilon() accountant.Bound {
	l = l.original()
	if l.shared.refresh() != nil {
		return infinite
	}
	l.quote()
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	r, _ := l.priceFull()
	return r.Bound
}

// MarkNotPrivate records that the ledger's releases are not private at all, for example because
// noise was deterministic. It cannot be undone.
func (l *Ledger) MarkNotPrivate(reason string) {
	l = l.original()
	reason = cmp.Or(reason, "unspecified")
	s := l.shared
	s.state.Lock()
	isNew := s.notPrivate() == ""
	if s.journal == nil {
		l.markNotPrivate(reason)
	} else if isNew {
		reason = lineText(reason)
		s.journal.marked = reason // at once, even if the line cannot be written
	}
	s.state.Unlock()
	if isNew && s.journal != nil {
		s.note(&change{NotPrivate: reason})
	}
}

// markNotPrivate keeps the first reason; the caller holds the state lock.
func (l *Ledger) markNotPrivate(reason string) {
	if root := l.shared.root; root.notPrivate == "" {
		root.notPrivate = reason
	}
}

// notPrivate returns why the family's runs are not private, or ""; the caller holds the state lock.
func (s *ledgerShared) notPrivate() string {
	if s.root.notPrivate == "" && s.journal != nil {
		return s.journal.marked
	}
	return s.root.notPrivate
}

// Unit returns the unit whose presence or content the ledger's guarantee protects; see WithUnit.
func (l *Ledger) Unit() string {
	l = l.original()
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	return l.shared.root.unitName()
}

func (l *Ledger) unitName() string {
	if l.unit == "" {
		return recordUnit
	}
	return l.unit
}

// NotPrivate returns the first reason given to MarkNotPrivate, or empty.
func (l *Ledger) NotPrivate() string {
	l = l.original()
	_ = l.shared.refresh() // on failure, answer from what is known
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	return l.shared.notPrivate()
}

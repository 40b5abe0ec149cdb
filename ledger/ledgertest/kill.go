package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// Load describes the load that Kill puts on a ledger.
type Load struct {
	Kills        int // the number of kills, at random moments
	Processes    int // the number of processes that run at once
	Reservations int // the number of reservations that each process makes
	// Disturb, if set, is called after the first kill and then after every ten kills. It may, for
	// example, stop and restart a server. Processes then repeat requests that failed.
	Disturb func()
}

const (
	childPlace  = "PRIVGEN_STORETEST_PLACE"  // the place that the child opens
	childTrace  = "PRIVGEN_STORETEST_TRACE"  // the file in which the child notes the answers it gets
	childNumber = "PRIVGEN_STORETEST_NUMBER" // the number of the child
	childCount  = "PRIVGEN_STORETEST_COUNT"  // how many reservations the child makes
	childAgain  = "PRIVGEN_STORETEST_AGAIN"  // if not empty, the child repeats what failed
)

// Kill starts processes that make reservations in one budget and draw from them. It kills the
// processes at random moments and starts them again. Files outside the store record the answers
// that the processes got. Whenever the ledger is opened, it must contain every confirmed
// reservation and count every drawn use as taken. No use may have been drawn twice, and the cost
// must be within the budget. A child process runs the whole test function that calls Kill.
func Kill(t *testing.T, s Subject, m Load) {
	t.Helper()
	s.inChild(t)
	rng := rand.New(rand.NewPCG(uint64(m.Kills), 0x73746f7265))
	longest := time.Duration(0)
	for round := 0; m.Kills > 0; round++ {
		k := newKilling(t, s, m)
		m.Kills -= k.run(t, rng, m.Kills)
		k.check(t, true)
		longest = max(longest, k.opening)
	}
	t.Logf("the longest opening took %v", longest)
}

// killing is one ledger and the processes on it.
type killing struct {
	place   *place
	traces  string // the folder of the traces
	load    Load
	opening time.Duration // the longest time that opening the ledger took
}

// killBudget returns a budget with room for about nine in ten of the reservations. The others are
// refused.
func killBudget(m Load) accountant.Budget {
	uses := 9 * m.Processes * m.Reservations / 10
	b, err := accountant.Epsilon(accountant.Repeated{Event: killEvent, Count: max(1, uses)}, 1e-6,
		accountant.AddOrRemoveOne)
	if err != nil {
		panic(err) // cannot happen: the event is constant
	}
	return accountant.Budget{Epsilon: b.Upper, Delta: 1e-6}
}

var killEvent = accountant.Gaussian{NoiseMultiplier: 400}

func newKilling(t *testing.T, s Subject, m Load) *killing {
	k := &killing{place: s.at(t), traces: t.TempDir(), load: m}
	l := k.place.create(t, ledger.Terms{Budget: killBudget(m)})
	must(t, l.Close())
	return k
}

// run starts the processes, makes up to the given number of kills, and waits until all processes
// have ended.
func (k *killing) run(t *testing.T, rng *rand.Rand, kills int) (killed int) {
	type child struct {
		number int
		err    error
	}
	ended := make(chan child)
	running := map[int]*exec.Cmd{}
	start := func(number int) {
		cmd := k.start(t, number)
		running[number] = cmd
		go func() { ended <- child{number, cmd.Wait()} }()
	}
	for number := range k.load.Processes {
		start(number)
	}
	checked := 0
	timer := time.NewTimer(0)
	for len(running) > 0 {
		pause := time.Duration(rng.Int64N(int64(100 * time.Millisecond)))
		timer.Reset(pause)
		select {
		case c := <-ended:
			delete(running, c.number)
			var exit *exec.ExitError
			switch {
			case c.err == nil:
			case errors.As(c.err, &exit) && exit.ExitCode() == -1:
				start(c.number)
			default:
				t.Fatalf("process %d failed: %v\n%s", c.number, c.err, k.output(c.number))
			}
		case <-timer.C:
			if killed == kills {
				continue
			}
			for _, cmd := range running { // any of them
				_ = cmd.Process.Kill()
				killed++
				break
			}
			if (killed+9)/10 > checked { // after the first, and then every ten
				checked++
				if k.load.Disturb != nil {
					k.load.Disturb()
				}
				k.check(t, false)
			}
		}
	}
	return killed
}

func (k *killing) trace(number int) string {
	return filepath.Join(k.traces, fmt.Sprintf("trace-%d", number))
}

func (k *killing) output(number int) string {
	text, _ := os.ReadFile(k.trace(number) + ".out")
	return string(text)
}

func (k *killing) start(t *testing.T, number int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+strings.Split(t.Name(), "/")[0]+"$")
	cmd.Env = append(os.Environ(), childPlace+"="+k.place.address, childTrace+"="+k.trace(number),
		childNumber+"="+strconv.Itoa(number), childCount+"="+strconv.Itoa(k.load.Reservations))
	if k.load.Disturb != nil {
		cmd.Env = append(cmd.Env, childAgain+"=1")
	}
	out, err := os.OpenFile(k.trace(number)+".out", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	return cmd
}

// traced holds the records made by the processes.
type traced struct {
	reserved map[string]int // the uses of confirmed reservations, by ID
	drawn    map[string]int // the uses that were handed out, by ID
	refused  int            // the number of refused reservations
}

// read reads the traces. A last line without a line feed was still being written; it is ignored.
func (k *killing) read(t *testing.T) traced {
	out := traced{map[string]int{}, map[string]int{}, 0}
	for number := range k.load.Processes {
		text, err := os.ReadFile(k.trace(number))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		must(t, err)
		for _, line := range strings.SplitAfter(string(text), "\n") {
			f := strings.Fields(line)
			switch {
			case !strings.HasSuffix(line, "\n"):
			case len(f) == 3 && f[0] == "yes":
				n, err := strconv.Atoi(f[2])
				must(t, err)
				out.reserved[f[1]] = n
			case len(f) == 2 && f[0] == "draw":
				out.drawn[f[1]]++
			case len(f) == 2 && f[0] == "no":
				out.refused++
			default:
				t.Fatalf("a trace contains the unknown line %q", line)
			}
		}
	}
	return out
}

// check reads the traces, then opens the ledger, and compares the two.
func (k *killing) check(t *testing.T, end bool) {
	t.Helper()
	seen := k.read(t)
	begin := time.Now()
	l := k.place.open(t)
	k.opening = max(k.opening, time.Since(begin))
	defer l.Close()
	held, taken := k.transactions(t)
	for id, n := range seen.reserved {
		if held[id] != n {
			t.Errorf("%s: %d uses were confirmed, %d are in the ledger", id, n, held[id])
		}
	}
	for id, n := range seen.drawn {
		if n > taken[id] {
			t.Errorf("%s: %d uses were drawn, the ledger counts %d as taken", id, n, taken[id])
		}
		if seen.reserved[id] == 0 {
			t.Errorf("%s: a use was drawn from a reservation that was not confirmed", id)
		}
	}
	if e := l.Epsilon().Upper; !(e <= l.Budget().Epsilon) {
		t.Errorf("ε = %v, want at most %v", e, l.Budget().Epsilon)
	}
	if !end {
		return
	}
	whole, again := 0, ledger.New(l.Budget())
	for _, n := range held {
		whole += n
	}
	_, err := again.Reserve("all", killEvent, whole)
	must(t, err)
	if got, want := l.Epsilon().Upper, again.Epsilon().Upper; got != want {
		t.Errorf("ε = %v, want %v, the ε of the lines", got, want)
	}
	if len(seen.drawn) == 0 || seen.refused == 0 {
		t.Errorf("%d reservations were drawn from, %d refused: the test shows little",
			len(seen.drawn), seen.refused)
	}
}

// transactions reads from the history how many uses were set aside and how many were taken under
// each ID. It does not use the code with which the ledger reads its lines.
func (k *killing) transactions(t *testing.T) (held, taken map[string]int) {
	held, taken = map[string]int{}, map[string]int{}
	for line, err := range k.place.store(t).History(t.Context(), ledgerName) {
		must(t, err)
		add := func(into map[string]int, found bool, id string, n int) {
			if found {
				into[id] += n
			}
		}
		id, n, found := between(string(line.Text), `"transaction":`)
		add(held, found, id, n)
		id, n, found = between(string(line.Text), `"spend":`)
		add(taken, found, id, n)
	}
	return held, taken
}

// between finds the ID and the count in a line, if the line is of the kind.
func between(text, kind string) (id string, count int, found bool) {
	_, rest, found := strings.Cut(text, kind)
	if !found {
		return "", 0, false
	}
	_, id, _ = strings.Cut(rest, `"id":"`)
	id, rest, _ = strings.Cut(id, `"`)
	_, number, _ := strings.Cut(rest, `"count":`)
	number, _, _ = strings.Cut(number, "}")
	count, err := strconv.Atoi(number)
	return id, count, err == nil
}

// inChild does the work of a child process and ends the process, if this is a child process.
func (s Subject) inChild(t *testing.T) {
	address := os.Getenv(childPlace)
	if address == "" {
		return
	}
	number, errA := strconv.Atoi(os.Getenv(childNumber))
	count, errB := strconv.Atoi(os.Getenv(childCount))
	b, errC := s.Open(address)
	if err := errors.Join(errA, errB, errC); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	if err := work(ledger.NewStore(b), os.Getenv(childTrace), number, count); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	os.Exit(0)
}

// work makes reservations, draws from them and records both. It begins with the reservation at
// which an earlier process died.
func work(s *ledger.Store, path string, number, count int) error {
	done, err := lines(path, "done ")
	if err != nil {
		return err
	}
	progress, err := os.OpenFile(path+".done", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	trace, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := endLine(trace, path); err != nil {
		return err
	}
	var l *ledger.Ledger
	err = again(func() (err error) {
		l, err = s.Open(context.Background(), ledgerName)
		return err
	})
	if err != nil {
		return err
	}
	for i := done; i < count; i++ {
		id := fmt.Sprintf("p%d-%d", number, i)
		if err := again(func() error { return one(l, trace, id) }); err != nil {
			return err
		}
		fmt.Fprintf(progress, "done %d\n", i)
	}
	return l.Close()
}

// again performs an operation. If the parent asks for it, again repeats a failed operation for two
// minutes, unless the error is permanent.
func again(do func() error) error {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := do()
		if err == nil || os.Getenv(childAgain) == "" || time.Since(begin) > 2*time.Minute ||
			errors.Is(err, ledger.ErrDamaged) || errors.Is(err, ledger.ErrRolledBack) {
			return err
		}
	}
}

// one makes one reservation of one use and draws it.
func one(l *ledger.Ledger, trace *os.File, id string) error {
	all, err := l.ReserveAll(ledger.Transaction{ID: id, Lines: []ledger.Line{
		{Purpose: "count", Event: killEvent, Count: 1}}})
	if errors.Is(err, accountant.ErrBudgetExceeded) {
		_, err = fmt.Fprintf(trace, "no %s\n", id)
		return err
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(trace, "yes %s 1\n", id); err != nil {
		return err
	}
	if err := all[0].Spend(); errors.Is(err, ledger.ErrReservationExhausted) {
		return nil // the process that died has taken the use
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintf(trace, "draw %s\n", id)
	return err
}

// lines counts the lines of the progress file that begin with prefix.
func lines(path, prefix string) (n int, err error) {
	f, err := os.Open(path + ".done")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		if strings.HasPrefix(scan.Text(), prefix) {
			n++
		}
	}
	return n, nil
}

// endLine removes a last line that a killed process left unfinished.
func endLine(f *os.File, path string) error {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 || text[len(text)-1] == '\n' {
		return err
	}
	return f.Truncate(int64(strings.LastIndexByte(string(text), '\n') + 1))
}

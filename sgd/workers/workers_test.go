package workers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/sgd/workers"
)

const asWorker = "PRIVGEN_TEST_WORKER"

var budget = accountant.Budget{Epsilon: 1e6, Delta: 1e-5}

// config returns a configuration with the given number of steps. Its batches consist of several
// micro-batches.
func config(steps int) sgd.Config {
	return sgd.Config{ClipNorm: 1, SamplingProbability: 0.3, Steps: steps, NoiseMultiplier: 1,
		Optimizer: sgd.Adam(1e-2), MicroBatch: 16}
}

const dim = 9

// people returns n records from a public seed.
func people(n int) *records.Table {
	rng := rand.New(rand.NewPCG(1, 2))
	flat := make([]float32, n*dim)
	for i := range flat {
		flat[i] = rng.Float32()
	}
	t, err := records.FromFlat(records.Interval(dim, 0, 1), flat)
	if err != nil {
		panic(err)
	}
	return t
}

func network() models.Network {
	net, err := models.VAE{Hidden: []int{7}, Latent: 2}.New(device.CPU(), models.Visible{Dim: dim}, 1)
	if err != nil {
		panic(err)
	}
	return net
}

// TestMain runs a worker if a test has started this program as one.
func TestMain(m *testing.M) {
	if os.Getenv(asWorker) == "" {
		os.Exit(m.Run())
	}
	key, err := workers.ReadKey(os.Stdin)
	if err == nil {
		err = serve(context.Background(), pipe{os.Stdin, os.Stdout}, key, config(15), people(120))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type pipe struct {
	io.Reader
	io.Writer
}

func serve(ctx context.Context, conn io.ReadWriter, k mechanism.Key, c sgd.Config,
	data records.Data) error {
	w, err := sgd.NewWorker(c, network(), data, k)
	if err != nil {
		return err
	}
	return workers.Serve(ctx, conn, w)
}

// inside starts workers in this process.
func inside(t testing.TB, k mechanism.Key, c sgd.Config, data records.Data) func(
	context.Context) (io.ReadWriteCloser, error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		mine, its := net.Pipe()
		go func() {
			defer its.Close()
			if err := serve(context.Background(), its, k, c, data); err != nil &&
				!errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("a worker: %v", err)
			}
		}()
		return mine, nil
	}
}

// result holds all visible results of a run.
type result struct {
	Params []float32
	Steps  []sgd.Step
	Lines  []accountant.Entry
}

// run trains a network and returns the visible results. ctx determines the noise.
func run(ctx context.Context, ledger *accountant.Ledger, c sgd.Config, data records.Data,
	opts ...sgd.Option) (r result, err error) {
	net := network()
	trainer, err := sgd.New(c, net, ledger, opts...)
	if err != nil {
		return r, err
	}
	for step, err := range trainer.Steps(ctx, data) {
		if err != nil {
			return r, err
		}
		r.Steps = append(r.Steps, step)
	}
	r.Params, r.Lines = slices.Clone(net.Params().Flat.Data), ledger.Entries()
	return r, nil
}

// alone returns the result of the run in one process.
func alone(t testing.TB, c sgd.Config, data records.Data) result {
	t.Helper()
	r, err := run(privacytest.Seeded(t, t.Context(), 5), ledgerOf(data), c, data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ledgerOf(data records.Data) *accountant.Ledger {
	return accountant.NewLedger(budget, accountant.WithUnit(records.UnitOf(data)))
}

func pool(t testing.TB, o workers.Options) *workers.Pool {
	t.Helper()
	p, err := workers.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestWorkersTrainTheSameBits: workers and a single process give the same bits. The test covers few
// pieces and more pieces than some samples have records, records and persons, and each policy that
// workers support.
func TestWorkersTrainTheSameBits(t *testing.T) {
	table := people(120)
	keys := make([]string, table.Len())
	for i := range keys {
		keys[i] = fmt.Sprint(i / 3)
	}
	persons, err := records.GroupBy(table, keys, 2)
	if err != nil {
		t.Fatal(err)
	}
	normalized := config(4)
	normalized.ClipNorm, normalized.Clip = 0, sgd.Normalize{}
	for name, c := range map[string]struct {
		config sgd.Config
		data   records.Data
	}{"records": {config(4), table}, "persons": {config(4), persons},
		"normalized": {normalized, table}, "few": {config(4), table.Slice(0, 3)}} {
		want := alone(t, c.config, c.data)
		for _, pieces := range []int{1, 3, 17} {
			k := mechanism.NewKey()
			p := pool(t, workers.Options{Start: inside(t, k, c.config, c.data), Workers: 2})
			got, err := run(privacytest.Seeded(t, t.Context(), 5), ledgerOf(c.data), c.config, c.data,
				sgd.WithCarrier(k, pieces, p))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d pieces: the result differs from that of one process", name, pieces)
			}
		}
	}
}

// deadly kills its process some time after some of the tasks are sent.
type deadly struct {
	io.ReadWriteCloser
	cmd   *exec.Cmd
	kills *atomic.Int64
}

func (d deadly) Write(b []byte) (int, error) {
	if len(b) > mechanism.KeySize && rand.IntN(4) == 0 {
		after := time.Duration(rand.IntN(3000)) * time.Microsecond
		if rand.IntN(4) == 0 {
			after = 0
		}
		time.AfterFunc(after, func() {
			d.kills.Add(1)
			_ = d.cmd.Process.Kill()
		})
	}
	return d.ReadWriteCloser.Write(b)
}

// TestKilledWorkers: worker processes are killed at random moments of many steps. The run continues
// with new processes. Its parameters, steps and ledger entries equal the results of a single
// process.
func TestKilledWorkers(t *testing.T) {
	data, c := people(120), config(15)
	want := alone(t, c, data)
	k := mechanism.NewKey()
	var kills, starts atomic.Int64
	start := func(ctx context.Context) (io.ReadWriteCloser, error) {
		var cmd *exec.Cmd
		starts.Add(1)
		conn, err := workers.Command(k, func() *exec.Cmd {
			cmd = exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), asWorker+"=1")
			return cmd
		})(ctx)
		return deadly{conn, cmd, &kills}, err
	}
	p := pool(t, workers.Options{Start: start, Workers: 2, Losses: 1000})
	got, err := run(privacytest.Seeded(t, t.Context(), 5), ledgerOf(data), c, data,
		sgd.WithCarrier(k, 4, p))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the result differs from that of one process")
	}
	if kills.Load() < 3 || starts.Load() < 4 {
		t.Errorf("%d kills, %d starts: the test has no power", kills.Load(), starts.Load())
	}
	t.Logf("%d kills, %d processes", kills.Load(), starts.Load())
}

// carrier passes tasks to one worker in an order that a test chooses.
type carrier func(do func([]byte) []byte, tasks [][]byte, take func([]byte) error) error

func (c carrier) with(t testing.TB, k mechanism.Key, cfg sgd.Config,
	data records.Data) sgd.Carrier {
	w, err := sgd.NewWorker(cfg, network(), data, k)
	if err != nil {
		t.Fatal(err)
	}
	return carried{c, func(task []byte) []byte {
		out, err := w.Do(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}}
}

type carried struct {
	c  carrier
	do func([]byte) []byte
}

func (c carried) Carry(_ context.Context, tasks [][]byte, take func([]byte) error) error {
	return c.c(c.do, tasks, take)
}

// TestPiecesCountOnce: a piece that is computed and delivered several times counts once. A step
// releases nothing if a piece is missing, changed or from another step.
func TestPiecesCountOnce(t *testing.T) {
	data, c := people(120), config(4)
	want := alone(t, c, data)
	k := mechanism.NewKey()
	train := func(how carrier) (result, error) {
		return run(privacytest.Seeded(t, t.Context(), 5), ledgerOf(data), c, data,
			sgd.WithCarrier(k, 3, how.with(t, k, c, data)))
	}
	got, err := train(func(do func([]byte) []byte, tasks [][]byte, take func([]byte) error) error {
		for _, task := range slices.Concat(tasks, tasks) {
			out := do(task)
			if err := errors.Join(take(out), take(out)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("repeated pieces: error %v, or a result that differs from that of one process", err)
	}
	var old []byte
	for name, how := range map[string]carrier{
		"missing": func(do func([]byte) []byte, tasks [][]byte, take func([]byte) error) error {
			return errors.Join(take(do(tasks[0])), take(do(tasks[2])))
		},
		"one three times": func(do func([]byte) []byte, tasks [][]byte, take func([]byte) error) error {
			return errors.Join(take(do(tasks[0])), take(do(tasks[0])), take(do(tasks[0])))
		},
		"another step's": func(do func([]byte) []byte, tasks [][]byte, take func([]byte) error) error {
			first := do(tasks[0])
			if old == nil {
				old = first
				return errors.Join(take(first), take(do(tasks[1])), take(do(tasks[2])))
			}
			return errors.Join(take(old), take(do(tasks[1])), take(do(tasks[2])))
		},
		"changed": func(do func([]byte) []byte, tasks [][]byte, take func([]byte) error) error {
			last := do(tasks[2])
			last[len(last)-1] ^= 1
			return errors.Join(take(do(tasks[0])), take(do(tasks[1])), take(last))
		},
	} {
		got, err := train(how)
		if err == nil || got.Params != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLateResults: results that come after the end of the step are refused and change nothing.
func TestLateResults(t *testing.T) {
	data, c := people(120), config(3)
	want := alone(t, c, data)
	k := mechanism.NewKey()
	var one sync.Mutex
	var late []func() error
	how := carrier(func(do func([]byte) []byte, tasks [][]byte, take func([]byte) error) error {
		for _, again := range late {
			if again() == nil {
				return errors.New("a late result was taken")
			}
		}
		for _, task := range tasks {
			out := do(task)
			if err := take(out); err != nil {
				return err
			}
			one.Lock()
			late = append(late, func() error { return take(out) })
			one.Unlock()
		}
		return nil
	})
	got, err := run(privacytest.Seeded(t, t.Context(), 5), ledgerOf(data), c, data,
		sgd.WithCarrier(k, 2, how.with(t, k, c, data)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("error %v, or a result that differs from that of one process", err)
	}
}

// TestOtherWorkersAreRefused: workers with another configuration, number of records or key are
// refused. The step then ends at once, for any value of Losses.
func TestOtherWorkersAreRefused(t *testing.T) {
	data, c, k := people(120), config(3), mechanism.NewKey()
	other := c
	other.ClipNorm = 2
	for name, start := range map[string]func(context.Context) (io.ReadWriteCloser, error){
		"configuration": inside(t, k, other, data),
		"records":       inside(t, k, c, people(119)),
		"key":           inside(t, mechanism.NewKey(), c, data),
	} {
		starts := 0
		p := pool(t, workers.Options{Losses: 1000, Start: func(ctx context.Context) (
			io.ReadWriteCloser, error) {
			starts++
			return start(ctx)
		}})
		var no *workers.Refusal
		_, err := run(t.Context(), ledgerOf(data), c, data, sgd.WithCarrier(k, 2, p))
		if !errors.As(err, &no) || starts != 1 {
			t.Errorf("%s: %v after %d starts", name, err, starts)
		}
	}
	for name, change := range map[string]func(*sgd.Config){
		"DPNorm": func(c *sgd.Config) { c.Clip = sgd.PaperDPNorm() },
		"Quantile": func(c *sgd.Config) {
			c.Clip = sgd.Quantile{Quantile: .5, Initial: 1, Rate: .2, NoiseMultiplier: 9}
			c.NominalBatch = 36
		},
	} {
		bad := c
		bad.ClipNorm = 0
		change(&bad)
		p := pool(t, workers.Options{Start: inside(t, k, bad, data)})
		_, err := sgd.New(bad, network(), ledgerOf(data), sgd.WithCarrier(k, 2, p))
		_, worker := sgd.NewWorker(bad, network(), data, k)
		if err == nil || worker == nil {
			t.Errorf("%s: %v, %v", name, err, worker)
		}
	}
	hung := func(context.Context) (io.ReadWriteCloser, error) {
		mine, its := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, its) }()
		return mine, nil
	}
	p := pool(t, workers.Options{Start: hung, Losses: 2, Patience: 20 * time.Millisecond})
	ledger := ledgerOf(data)
	if _, err := run(t.Context(), ledger, c, data, sgd.WithCarrier(k, 2, p)); err == nil {
		t.Error("a run whose workers never answer succeeds")
	}
}

// sizes returns a carrier that records the lengths of all messages.
func sizes(tasks, results map[int]bool) carrier {
	return func(do func([]byte) []byte, list [][]byte, take func([]byte) error) error {
		for _, task := range list {
			out := do(task)
			tasks[len(task)], results[len(out)] = true, true
			if err := take(out); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestMessagesHaveOneLength: the length of messages does not depend on the sample if its pieces fit
// into the room of a task. The length of a larger task shows only how often the room was doubled.
func TestMessagesHaveOneLength(t *testing.T) {
	train := func(tasks, results map[int]bool, pieces int, nominal float64, n int) {
		t.Helper()
		data, c, k := people(n), config(6), mechanism.NewKey()
		c.NominalBatch = nominal
		how := sizes(tasks, results).with(t, k, c, data)
		if _, err := run(t.Context(), ledgerOf(data), c, data, sgd.WithCarrier(k, pieces,
			how)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		pieces  int
		nominal float64
		records []int
		want    int // lengths of tasks
	}{{1, 0, []int{0, 1, 120, 2000}, 1},
		{3, 36, []int{0, 1, 120}, 1}, {3, 12, []int{110, 120, 130}, 1},
		{1, 36, []int{120, 1000}, 2}} {
		tasks, results := map[int]bool{}, map[int]bool{}
		for _, n := range c.records {
			train(tasks, results, c.pieces, c.nominal, n)
		}
		if len(tasks) != c.want || len(results) != 1 {
			t.Errorf("%d pieces, nominal batch %v: tasks have lengths %v, results %v", c.pieces, c.nominal,
				tasks, results)
		}
	}
}

// serving starts workers, one after another, with the given networks and records.
func serving(t testing.TB, k mechanism.Key, c sgd.Config, nets []models.VAE,
	data []records.Data) func(context.Context) (io.ReadWriteCloser, error) {
	var next atomic.Int64
	return func(context.Context) (io.ReadWriteCloser, error) {
		mine, its := net.Pipe()
		i := int(next.Add(1)-1) % len(nets)
		vae, err := nets[i].New(device.CPU(), models.Visible{Dim: dim}, 1)
		if err != nil {
			return nil, err
		}
		w, err := sgd.NewWorker(c, vae, data[i], k)
		if err != nil {
			return nil, err
		}
		go func() {
			defer its.Close()
			_ = workers.Serve(context.Background(), its, w)
		}()
		return mine, nil
	}
}

// TestUnlikeWorkersAreRefused: a worker is refused if its network has the same shapes but another
// loss. It is also refused if it has the same number of records, but other records or another
// order. The run ends at once.
func TestUnlikeWorkersAreRefused(t *testing.T) {
	data, c, k := people(120), config(3), mechanism.NewKey()
	same := models.VAE{Hidden: []int{7}, Latent: 2}
	other := same
	other.KLWeight = 3
	var no *workers.Refusal
	p := pool(t, workers.Options{Start: serving(t, k, c, []models.VAE{other}, []records.Data{data})})
	if _, err := run(t.Context(), ledgerOf(data), c, data, sgd.WithCarrier(k, 2, p)); !errors.As(err,
		&no) {
		t.Errorf("a network with another loss: %v", err)
	}
	var order []records.Data
	for i := range 6 {
		order = append(order, data.Slice(100-20*i, 120-20*i))
	}
	turned, err := records.Concat(data.Schema(), order...)
	if err != nil {
		t.Fatal(err)
	}
	changed := people(240).Slice(120, 240)
	for name, d := range map[string]records.Data{"order": turned, "records": changed} {
		var err error
		for range 20 { // one worker may do all pieces of a run
			p := pool(t, workers.Options{Workers: 2, Losses: 1000,
				Start: serving(t, k, c, []models.VAE{same, same}, []records.Data{data, d})})
			if _, err = run(t.Context(), ledgerOf(data), c, data, sgd.WithCarrier(k, 8, p)); err != nil {
				break
			}
		}
		if !errors.Is(err, sgd.ErrOther) {
			t.Errorf("other %s: %v", name, err)
		}
	}
}

// TestReplay: the visible results of the driver depend on the records only through released sums.
func TestReplay(t *testing.T) {
	c := config(3)
	c.SamplingProbability = 0.5
	schema := records.Interval(dim, 0, 1)
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, pair := range privacytest.Neighbours(t, schema, relation, 8, 3)[:3] {
			b := budget
			b.Relation = relation
			privacytest.Replay[records.Data]{Budget: b, Data: pair.Data, Neighbour: pair.Neighbour,
				Seeds: 2, Run: func(ctx context.Context, l *accountant.Ledger, d records.Data) (any, error) {
					k := mechanism.NewKey()
					p, err := workers.New(workers.Options{Start: inside(t, k, c, d), Workers: 2})
					if err != nil {
						return nil, err
					}
					defer p.Close()
					return run(ctx, l, c, d, sgd.WithCarrier(k, 3, p))
				}}.Check(t)
		}
	}
}

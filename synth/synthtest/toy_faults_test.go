package synthtest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// faultVariable holds the fault of the system that a child process tests.
const faultVariable = "PRIVGEN_SYNTHTEST_FAULT"

// TestFaultsAreFound: the suite fails for a system with one of several faults, and passes without.
func TestFaultsAreFound(t *testing.T) {
	if fault := os.Getenv(faultVariable); fault != "" {
		synthtest.Run(t, faultySubject(fault))
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	for fault, c := range map[string]struct{ part, want string }{
		"no means":               {"kinds_of_records/add_or_remove_one/^binary$", "Means has no effect"},
		"samplers share numbers": {"kinds_of_records/add_or_remove_one/^binary$", "draws meanwhile"},
		"another multiplier":     {"bill", "states the noise multiplier"},
		"noise is not decided":   {"bill", "is 0, not"},
		"plain errors":           {"files", "want ErrFormat: see synth.Malformed"},
		"never cancelled":        {"cancellation", "error <nil>, want context.Canceled"},
		"cancelled too late":     {"cancellation", "1 further draws"},
		"uses are lost":          {"lost_uses", "got error <nil>"},
		"saved sums are lost":    {"checkpoints/report_5", "another result than one that was not"},
		"none":                   {"cancellation", ""},
	} {
		cmd := exec.Command(exe, "-test.run", "^TestFaultsAreFound$/"+c.part)
		cmd.Env = append(os.Environ(), faultVariable+"="+fault)
		out, err := cmd.CombinedOutput()
		if (err != nil) != (c.want != "") || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: got error %v, want the message %q in\n%s", fault, err, c.want, out)
		}
	}
}

// faultySubject returns the toy system with a fault.
func faultySubject(fault string) synthtest.Subject {
	s := system()
	read := s.Model
	s.Model = func(f *synth.File, l synth.Loading) (synth.Model, error) {
		m, err := read(f, l)
		if err != nil && fault == "plain errors" {
			return nil, errors.New(err.Error())
		}
		return faultyModel(m, fault), err
	}
	s.Plan = func(saved synth.SavedPlan) (synth.Plan, error) {
		w := &work{schema: saved.Schema, budget: saved.Budget}
		if err := w.read(saved); err != nil && (fault != "noise is not decided" || w.noise != 0) {
			return nil, err
		}
		if w.noise == 0 {
			if err := w.calibrate(); err != nil {
				return nil, err
			}
		}
		return w.faulty(fault)
	}
	return synthtest.Subject{System: s, Plan: func(s records.Schema, b accountant.Budget,
		_ int) (synth.Plan, error) {
		w := &work{schema: s, budget: b}
		if err := w.calibrate(); err != nil {
			return nil, err
		}
		return w.faulty(fault)
	}}
}

func (w *work) faulty(fault string) (synth.Plan, error) {
	stages := w.stages()
	if fault == "another multiplier" {
		stages[0].NoiseMultiplier *= 3
	}
	w.forget = fault == "saved sums are lost"
	p, err := synth.NewProgram("toy", w.schema, w.budget, stages, faultyWork{w, fault})
	if err != nil {
		return nil, err
	}
	return &plan{p}, nil
}

type faultyWork struct {
	*work
	fault string
}

func (f faultyWork) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	switch f.fault {
	case "never cancelled":
		ctx = context.WithoutCancel(ctx)
		fallthrough
	case "cancelled too late":
		var b device.Batch
		r.Data.Range(0, r.Data.Len(), &b) // the release that follows does not look at ctx
	}
	m, err := f.work.Fit(ctx, r)
	if f.fault == "uses are lost" {
		return &model{}, nil
	}
	return faultyModel(m, f.fault), err
}

func faultyModel(m synth.Model, fault string) synth.Model {
	switch own, _ := m.(*model); {
	case fault == "no means":
		return &faultyDraws{model: own}
	case fault == "samplers share numbers":
		return &faultyDraws{model: own, shared: rand.New(rand.NewPCG(1, 1))}
	}
	return m
}

// faultyDraws ignores means. Its samplers share their random numbers, if shared is set.
type faultyDraws struct {
	*model
	shared *rand.Rand
}

func (f *faultyDraws) Sampler(d synth.Draw) (synth.Sampler, error) {
	d.Means = d.Means && f.shared != nil
	s, err := f.model.Sampler(d)
	if f.shared == nil || err != nil {
		return s, err
	}
	f.shared = rand.New(rand.NewPCG(d.Seed, 1))
	return synth.Sampler{Schema: s.Schema, Next: func(n int) (records.Data, error) {
		d.Seed = f.shared.Uint64()
		one, err := f.model.Sampler(d)
		if err != nil {
			return nil, err
		}
		return one.Next(n)
	}}, nil
}

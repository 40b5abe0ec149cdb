// Command prices asks this library and Python's accountants for the same ε, in turn, and prints
// values, brackets and processor times. See README.md.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/seed7ba64551/privgen/accountant"
)

// jobs are the questions: an event for a noise multiplier. prices.py has the same names.
var jobs = []struct {
	name     string
	sigma    float64
	delta    float64
	relation accountant.Relation
	event    func(sigma float64) accountant.Event
}{
	{"poisson", 0.9, 1e-5, accountant.AddOrRemoveOne, poisson(0.01, 1000)},
	{"poisson-long", 1, 1e-6, accountant.AddOrRemoveOne, poisson(0.001, 100000)},
	{"poisson-tail", 0.9, 1e-12, accountant.AddOrRemoveOne, poisson(0.01, 1000)},
	{"replaced", 0.9, 1e-5, accountant.ReplaceOne, func(s float64) accountant.Event {
		return accountant.Repeated{Event: accountant.SampledSum{Probability: 0.01, NoiseMultiplier: s},
			Count: 1000}
	}},
	{"truncated", 0.9, 1e-5, accountant.AddOrRemoveOne, func(s float64) accountant.Event {
		return accountant.Repeated{Event: accountant.TruncatedPoisson{Probability: 0.01,
			Population: 10000, MaxBatch: 160, NoiseMultiplier: s}, Count: 1000}
	}},
	{"banded", 1.5, 1e-5, accountant.AddOrRemoveOne, func(s float64) accountant.Event {
		return accountant.Repeated{Event: accountant.BandedSum{Probability: 0.08, NoiseMultiplier: s,
			Band: []float64{1, 0.5, 0.375, 0.3125, 0.25, 0.25, 0.25, 0.25}}, Count: 250}
	}},
	{"allocation", 1, 1e-5, accountant.AddOrRemoveOne, allocation(100, 1)},
	{"allocation-1000", 1, 1e-5, accountant.AddOrRemoveOne, allocation(1000, 1)},
	{"allocation-epochs", 1, 1e-5, accountant.AddOrRemoveOne, allocation(1000, 10)},
}

func poisson(q float64, steps int) func(float64) accountant.Event {
	return func(s float64) accountant.Event {
		return accountant.Repeated{Event: accountant.PoissonSampled{Probability: q,
			Event: accountant.Gaussian{NoiseMultiplier: s}}, Count: steps}
	}
}

func allocation(steps, epochs int) func(float64) accountant.Event {
	return func(s float64) accountant.Event {
		return accountant.Repeated{Event: accountant.RandomAllocation{Steps: steps, NoiseMultiplier: s},
			Count: epochs}
	}
}

func main() {
	python := flag.String("python", "python3", "a Python with the packages of README.md")
	script := flag.String("script", "prices.py", "the other side")
	rounds := flag.Int("rounds", 3, "rounds, of which the median counts")
	flag.Parse()
	if err := run(*python, *script, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "prices:", err)
		os.Exit(1)
	}
}

func run(python, script string, rounds int) error {
	c := exec.Command(python, script)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer c.Wait()
	defer in.Close()
	answers := bufio.NewReader(out)
	fmt.Println("| job | peer | ε, lower and upper | its ε | processor time ÷ ours |")
	fmt.Println("|---|---|---|---|---|")
	for _, j := range jobs {
		var ours, theirs []float64
		var b accountant.Bound
		var peer string
		var lower, upper float64
		for round := range rounds {
			seconds, err := timed(func(i int) (err error) { // another σ each time, as prices are kept
				b, err = accountant.Epsilon(j.event(j.sigma*(1+1e-9*float64(10*round+i+1))), j.delta,
					j.relation)
				return err
			})
			if err != nil {
				return err
			}
			var t float64
			fmt.Fprintln(in, j.name, j.sigma*(1+1e-9*float64(round)), j.delta)
			if _, err := fmt.Fscan(answers, &peer, &lower, &upper, &t); err != nil {
				return fmt.Errorf("%s: %w", j.name, err)
			}
			ours, theirs = append(ours, seconds), append(theirs, t)
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		fmt.Printf("| %s | %s | %s | %s | %.0f |\n", j.name, peer, bracket(b.Lower, b.Upper),
			bracket(lower, upper), theirs[rounds/2]/ours[rounds/2])
	}
	return nil
}

func bracket(lower, upper float64) string {
	if lower == 0 {
		return accountant.FormatUpper(upper, 5)
	}
	return accountant.FormatLower(lower, 5) + "–" + accountant.FormatUpper(upper, 5)
}

// timed returns the processor time of one of ten calls, those of other threads included.
func timed(f func(i int) error) (float64, error) {
	const calls = 10
	before := processorTime()
	for i := range calls {
		if err := f(i); err != nil {
			return 0, err
		}
	}
	return (processorTime() - before) / calls, nil
}

func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// Command hostile gives every reader of the module inputs that an attacker might have written to
// harm it, and reports each that panics, hangs, or takes more memory or time than an input below 1
// MB may take.
//
//	go run ./hostile                              10,000 inputs for each reader
//	go run ./hostile -inputs 200000 -run plan     readers whose names match
//	go run ./hostile -list                        names, and nothing is run
//	go run ./hostile -run 'plan: gan' -first 71 -inputs 1 -print   one input, and what it is
//	go run ./hostile -json report.json            the counts as JSON besides
//
// Inputs are changed copies of sound ones: bytes, lines, numbers and texts in JSON, sections of
// files. Lengths and checksums of the module's own files are put right again, so that what is read
// is not turned away at the door. An input follows from the seed, the reader's name and its number
// alone. The command exits with status 1 if it has found something.
//
// A fault that ends the process, such as a stack that overflows, leaves a trace in which the first
// argument of main.attempt is the number of the input, in hexadecimal.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := command(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		code = 2
	}
	os.Exit(code)
}

// command is the program without the process around it.
func command(ctx context.Context, args []string, out io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	pattern := flags.String("run", "", "readers whose names match this regular expression")
	list := flags.Bool("list", false, "list readers and run nothing")
	inputs := flags.Uint64("inputs", 10_000, "how many inputs for each reader")
	first := flags.Uint64("first", 0, "number of the first input")
	seed := flags.Uint64("seed", 1, "seed of all inputs")
	show := flags.Bool("print", false, "print every input and what its reader says")
	file := flags.String("json", "", "write the counts to this file")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	name, err := regexp.Compile(*pattern)
	if err != nil {
		return 2, err
	}
	scratch, err := scratchFolder()
	if err != nil {
		return 2, err
	}
	defer os.RemoveAll(scratch)
	all, err := readers(ctx, scratch)
	if err != nil {
		return 2, err
	}
	s := suite{seed: *seed, first: *first, inputs: *inputs, out: out, limits: limits{allowedBytes,
		allowedTime, hangs}}
	if *show {
		s.show = out
	}
	for _, r := range all {
		switch {
		case !name.MatchString(r.name):
		case *list:
			fmt.Fprintln(out, r.name)
		default:
			s.run(ctx, r)
		}
	}
	if *list {
		return 0, nil
	}
	if *file != "" {
		if err := writeJSON(*file, s.report()); err != nil {
			return 2, err
		}
	}
	return s.summarise(), nil
}

// scratchFolder is in memory where the system has such a place: files of checkpoints are written
// through to the disk, and there are many.
func scratchFolder() (string, error) {
	if dir, err := os.MkdirTemp("/dev/shm", "hostile"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "hostile")
}

// report is what a run has counted.
type report struct {
	Date    string   `json:"date"`
	Machine string   `json:"machine"`
	Seed    uint64   `json:"seed"`
	Inputs  uint64   `json:"inputs"`
	Readers []*tally `json:"readers"`
}

func (s *suite) report() report {
	r := report{Date: time.Now().UTC().Format(time.DateOnly), Seed: s.seed, Readers: s.tallies,
		Machine: fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
			runtime.Version())}
	for _, t := range s.tallies {
		r.Inputs += t.Inputs
	}
	return r
}

func writeJSON(file string, r report) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

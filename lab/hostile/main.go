// Command hostile gives every reader of the module inputs that an attacker might write. It reports
// each input for which a reader panics, hangs, or takes more memory or time than an input below 1
// MB may take.
//
//	go -C lab run ./hostile                              10,000 inputs for each reader
//	go -C lab run ./hostile -inputs 200000 -run plan     only readers whose names match
//	go -C lab run ./hostile -list                        list the readers and run nothing
//	go -C lab run ./hostile -run 'plan: gan' -first 71 -inputs 1 -print   run and print one input
//	go -C lab run ./hostile -json report.json            also write the counts as JSON
//
// Inputs are copies of valid inputs with changed bytes, lines, numbers and texts in JSON, or
// sections of files. Lengths and checksums of the module's own files are corrected afterwards, so
// that the files are not refused before their content is read. An input is determined by the seed,
// the reader's name and the input's number. The command exits with status 1 if it has findings.
//
// A fault that ends the process, such as a stack overflow, leaves a trace. In this trace the first
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

// command runs the program with the given arguments and returns its exit status.
func command(ctx context.Context, args []string, out io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	pattern := flags.String("run", "", "readers whose names match this regular expression")
	list := flags.Bool("list", false, "list readers and run nothing")
	inputs := flags.Uint64("inputs", 10_000, "number of inputs for each reader")
	first := flags.Uint64("first", 0, "number of the first input")
	seed := flags.Uint64("seed", 1, "seed of all inputs")
	show := flags.Bool("print", false, "print every input and its reader's result")
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

// scratchFolder creates a folder, in a file system in memory if there is one. On a disk, every
// checkpoint would be synced.
func scratchFolder() (string, error) {
	if dir, err := os.MkdirTemp("/dev/shm", "hostile"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "hostile")
}

// A report holds the counts of a run.
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

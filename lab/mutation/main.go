// Command mutation plants single faults in the lines that privacy depends on. It reports which
// faults the tests detect.
//
//	go -C lab run ./mutation                      plant all faults (takes almost an hour)
//	go -C lab run ./mutation -run 'sgd|kmeans'    plant the faults with matching names
//	go -C lab run ./mutation -list                list names, places and reasons, and run nothing
//	go -C lab run ./mutation -json report.json    also write the results as JSON
//	go -C lab run ./mutation -sample 60 -package sgd   plant random changes of a package
//	go -C lab run ./mutation -sample 60 -package sgd -again report.txt   only those that survived
//
// No source file is changed. Each fault is in a separate file, which "go test -overlay" reads
// instead of the original. A mutant names the tests that must detect it. Only these tests are run,
// so an unrelated failure cannot count as a detection. The same tests must first pass without the
// fault. The command exits with status 1 if a mutant survives without an explanation, does not
// compile, exceeds the time limit, or can no longer be planted.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := command(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		code = 2
	}
	os.Exit(code)
}

// command runs the program with the given arguments and returns its exit status.
func command(ctx context.Context, args []string, out io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("mutation", flag.ContinueOnError)
	pattern := flags.String("run", "",
		"plant the mutants, or run the tests of a sample, with matching names")
	list := flags.Bool("list", false, "list mutants and run nothing")
	limit := flags.Duration("timeout", 3*time.Minute,
		"limit for the tests of one mutant, or for one test of a sample")
	file := flags.String("json", "", "write the results to this file")
	sample := flags.Int("sample", 0, "plant so many random changes of -package instead")
	seed := flags.Uint64("seed", 1, "choose the random changes")
	in := flags.String("package", "accountant", "folder of the package for -sample")
	by := flags.String("tests", "", "folders of the tests, with commas between; -package if empty")
	files := flags.String("files", "", "change only files whose names match this regular expression")
	again := flags.String("again", "", "plant only the changes that survived in this earlier report")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0, nil
	} else if err != nil {
		return 2, err
	}
	name, err := regexp.Compile(*pattern)
	if err != nil {
		return 2, fmt.Errorf("-run: %w", err)
	}
	root, err := moduleRoot()
	if err != nil {
		return 2, err
	}
	if *sample > 0 {
		only, err := regexp.Compile(*files)
		if err != nil {
			return 2, fmt.Errorf("-files: %w", err)
		}
		var report []byte
		if *again != "" {
			if report, err = os.ReadFile(*again); err != nil {
				return 2, err
			}
		}
		a := &automatic{root: root, in: *in, tests: strings.Split(cmp.Or(*by, *in), ","),
			chosen: name, files: only, limit: *limit, sample: *sample, seed: *seed, out: out,
			again: string(report)}
		return 0, a.run(ctx)
	}
	t, err := readTree(root)
	if err != nil {
		return 2, err
	}
	chosen := choose(mutants(), name)
	if *list {
		return 0, listAll(out, t, chosen)
	}
	s := &suite{root: root, tree: t, limit: *limit, out: out, baseline: map[string]error{}}
	defer s.close()
	results := s.run(ctx, chosen)
	if *file != "" {
		if err := writeJSON(*file, results); err != nil {
			return 2, err
		}
	}
	return summarise(out, results), nil
}

func choose(all []mutant, name *regexp.Regexp) (chosen []mutant) {
	for _, m := range all {
		if name.MatchString(m.Name) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

func listAll(out io.Writer, t tree, chosen []mutant) error {
	for _, m := range chosen {
		at, err := t.find(m)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n\t%s: %s\n", m.Name, at, m.Why)
	}
	return nil
}

func writeJSON(file string, results []result) error {
	text, err := json.MarshalIndent(results, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// summarise prints how many mutants had each outcome, and lists the mutants that were not caught.
// It returns the exit status.
func summarise(out io.Writer, results []result) int {
	counts, code := map[string]int{}, 0
	for _, r := range results {
		counts[r.Outcome]++
		if r.Outcome != caught && r.Outcome != explained {
			code = 1
		}
	}
	fmt.Fprintf(out, "\n%d mutants:", len(results))
	for _, o := range []string{caught, explained, survived, broken, timedOut, failed} {
		if counts[o] > 0 {
			fmt.Fprintf(out, " %d %s", counts[o], o)
		}
	}
	fmt.Fprintln(out)
	for _, r := range results {
		switch r.Outcome {
		case caught:
		case explained:
			fmt.Fprintf(out, "%s: %s: %s\n", r.Outcome, r.Name, r.Equivalent)
		default:
			fmt.Fprintf(out, "%s: %s (%s): %s\n%s", r.Outcome, r.Name, r.Where, r.Why, r.Detail)
		}
	}
	return code
}

// History stores the results of benchmarks, one file for each run, and reports which benchmarks
// became slower between two runs.
//
//	go test ./sgd -run '^$' -bench Ratio -count 3 | go -C benchmarks/history run . write -dir runs
//	go -C benchmarks/history run . compare runs/OLD.json runs/NEW.json
//	go -C benchmarks/history run . plot -dir ../../docs/performance
//
// Write copies its input to its output. It reads any lines of the form that go test -bench prints.
// Compare exits with status 1 if a benchmark became slower. Between machines only ratios are
// compared, since a ratio comes from programs that alternated within one run. Plot draws the
// pictures that plots.json in the folder describes, from the runs in the folder's folder runs.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	slower, err := run(os.Args[1:], os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(2)
	}
	if slower {
		os.Exit(1)
	}
}

var errUsage = errors.New("want: write [-dir DIR] <RESULTS, compare [-by PART] OLD.json NEW.json, or " +
	"plot [-dir DIR]")

func run(args []string, in io.Reader, out io.Writer) (slower bool, err error) {
	if len(args) == 0 {
		return false, errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	dir := flags.String("dir", ".", "write: the folder of the file; plot: the folder of plots.json")
	var said record
	flags.StringVar(&said.Command, "command", "", "write: the command that measured, for the record")
	flags.StringVar(&said.Note, "note", "", "write: circumstances, for the record")
	by := flags.Float64("by", 0.1, "compare: the fraction by which a median must grow to count as slower")
	if err := flags.Parse(args[1:]); err != nil {
		return false, err
	}
	switch {
	case args[0] == "write" && flags.NArg() == 0:
		return false, write(*dir, said, in, out)
	case args[0] == "plot" && flags.NArg() == 0:
		return false, plotAll(*dir)
	case args[0] == "compare" && flags.NArg() == 2 && *by > 0:
		before, err := load(flags.Arg(0))
		if err != nil {
			return false, err
		}
		after, err := load(flags.Arg(1))
		if err != nil {
			return false, err
		}
		return report(out, before, after, *by), nil
	}
	return false, errUsage
}

// write reads the output of go test and writes a file named after the time and the commit.
func write(dir string, said record, in io.Reader, out io.Writer) error {
	r, err := parse(bufio.NewScanner(io.TeeReader(in, out)))
	if err != nil {
		return err
	}
	if len(r.Results) == 0 {
		return errors.New("no results of benchmarks were read: pipe the output of go test -bench to this program")
	}
	r.Time, r.Commit = time.Now().UTC().Truncate(time.Second), commit()
	r.Command, r.Note = said.Command, said.Note
	r.Machine.complete()
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	name := r.Time.Format("20060102T150405Z") + "-" + r.Commit + ".json"
	return os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o666)
}

// commit returns the commit of the working tree, marked if files differ from it.
func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func load(path string) (r record, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: not a file of this program: %w", path, err)
	}
	return r, nil
}

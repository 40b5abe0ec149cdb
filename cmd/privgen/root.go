package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app holds the state that all subcommands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	asJSON   bool
	quiet    bool
	progress string

	ctx   context.Context // of the subcommand
	mu    sync.Mutex
	begun bool // whether an interrupt waits for the work to stop

	help bytes.Buffer // what the library of commands prints, which ignores errors of writing

	inputs  []string // files that the command line names, other than --out
	again   []string // notes to be repeated after the progress
	started bool     // whether the command line was valid and the subcommand has started
}

const columns = 100 // width of printed text

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "privgen",
		Short: "Private synthetic data: learn a generator from records under differential privacy",
		Long: "Privgen learns a generator of synthetic records from sensitive ones under differential " +
			"privacy.\nA ledger on disk or in a database keeps the privacy budget of every data set.\n\n" +
			"The order of work: draft a schema, check records, plan the fit, fit, sample, report.\n\n" +
			exitHelp(),
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              cobra.NoArgs,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFlag(err) })
	root.SetIn(a.stdin)
	root.SetOut(&a.help)
	root.SetErr(a.stderr)
	root.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", fmt.Sprintf(".LocalFlags.FlagUsagesWrapped %d", columns),
		".InheritedFlags.FlagUsages", fmt.Sprintf(".InheritedFlags.FlagUsagesWrapped %d", columns),
	).Replace(root.UsageTemplate()))
	flags := root.PersistentFlags()
	flags.BoolVar(&a.asJSON, "json", false, "print results and errors as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print neither notes nor progress on standard error")
	flags.StringVar(&a.progress, "progress", "auto",
		"`form` of progress: auto, bar (for a terminal), plain (lines) or none")
	cobra.EnableCommandSorting = false // the order of work is more useful than the alphabet
	root.AddCommand(newDraft(a), newCheck(a), newPlan(a), newFit(a), newSample(a), newReport(a),
		newCompare(a), newFidelity(a), newGuarantee(a), newLedger(a), newAudit(a), newMan(a))
	root.AddGroup(&cobra.Group{ID: "work", Title: "The order of work:"},
		&cobra.Group{ID: "trust", Title: "Budgets and trust:"})
	return root
}

// plainFlag replaces the parser's words about a number that cannot be read.
func plainFlag(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	want := "a number"
	switch {
	case errors.Is(number, strconv.ErrRange):
		want = "a number of a smaller size"
	case number.Func == "ParseUint":
		want = "a whole number that is not negative"
	case number.Func == "ParseInt" || number.Func == "Atoi":
		want = "a whole number"
	case number.Func == "ParseBool":
		want = "true or false"
	}
	return fmt.Errorf("%s: want %s", text, want)
}

// exitHelp is the table of exit codes.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:")
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "\n  %3d  %s", c.Code, c.Meaning)
	}
	return b.String()
}

// version returns the version of the module, or the commit that the program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (text == "" || text == "(devel)") {
			text = s.Value
		}
	}
	return text
}

// action wraps the work of a subcommand, which runs after the command line has been checked.
func (a *app) action(do func(c *cobra.Command, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(c *cobra.Command, args []string) error {
		a.started = true
		if err := a.checkProgress(); err != nil {
			return err
		}
		a.inputs = append([]string{}, args...)
		c.Flags().Visit(func(f *pflag.Flag) {
			if kind, _ := pflag.UnquoteUsage(f); kind != "file" || f.Name == "out" {
				return
			}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				a.inputs = append(a.inputs, list.GetSlice()...)
			} else {
				a.inputs = append(a.inputs, f.Value.String())
			}
		})
		a.ctx = c.Context()
		done := make(chan error, 1)
		go func() { done <- do(c, args) }()
		select {
		case err := <-done:
			return err
		case <-a.ctx.Done():
		}
		a.mu.Lock()
		begun := a.begun
		a.mu.Unlock()
		if !begun {
			return a.ctx.Err()
		}
		return <-done
	}
}

// begin ends the part of the work that an interrupt cuts off: the reading of files, which may wait
// for their ends for ever. The caller is about to spend or to write. After begin, an interrupt
// stops the work between two steps.
func (a *app) begin() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.begun && a.ctx != nil && a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	a.begun = true
	return nil
}

// note prints a line on standard error unless --quiet is given.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, wrap(fmt.Sprintf("note: "+format, args...), columns))
	}
}

// arguments requires exactly one argument for each name.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		got := fmt.Sprintf("%d arguments", len(args))
		switch len(args) {
		case 0:
			got = "no arguments"
		case 1:
			got = "1 argument"
		}
		return fmt.Errorf("got %s, want %d: %s", got, len(names), listed(names, "and"))
	}
}

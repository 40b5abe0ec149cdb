// Package program contains code that all examples need in addition to the library: handling of
// interrupts, flags for a budget, a display of progress, and saving of files.
package program

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Main runs a program until it returns or is interrupted. If it returns an error, Main prints it
// after the program's name and exits with status 1. An interrupt cancels ctx. A run then ends
// between two steps. The privacy budget spent so far stays spent.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Save creates a file and calls write to fill it.
func Save(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the program and returns its exit code. A first interrupt stops the work between two
// steps. A second interrupt ends the process.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ignoreSignals()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, forget := untilHangUp(ctx)
	defer forget()
	context.AfterFunc(ctx, stop)
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	command := newRoot(a)
	command.SetArgs(args)
	done, err := command.ExecuteContextC(ctx)
	if err != nil && !a.started {
		err = usage{err}
	}
	if _, e := a.help.WriteTo(stdout); err == nil {
		err = e
	}
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	a.complain(done.CommandPath(), code, err)
	return code
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// The exit codes. docs/command.md and the help of the command list them.
const (
	exitOK        = 0
	exitInternal  = 1
	exitUsage     = 2
	exitInput     = 3
	exitBudget    = 4
	exitIO        = 5
	exitTaken     = 6
	exitLedger    = 7
	exitNoise     = 8
	exitRefuted   = 9
	exitCancelled = 130
	exitPipe      = 141
)

// exitCodes lists the codes with their meanings, for the help.
var exitCodes = []struct {
	Code    int
	Meaning string
}{
	{exitOK, "done"},
	{exitInternal, "an error other than the following"},
	{exitUsage, "the command line is wrong"},
	{exitInput, "a file of data, a schema, a plan or a generator has the wrong content"},
	{exitBudget, "the privacy budget is too small; nothing was spent"},
	{exitIO, "a file is missing or not permitted, or the disk is full"},
	{exitTaken, "another process uses the same checkpoint or writes the same result"},
	{exitLedger, "the ledger is damaged, restored from an older copy, or not the expected one"},
	{exitNoise, "with this budget the noise leaves nothing to learn"},
	{exitRefuted, "the audit contradicts what the plan claims"},
	{exitCancelled, "interrupted or terminated; run the same command to continue"},
	{exitPipe, "the reader of standard output closed it"},
}

// usage is a mistake on the command line.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

// badInput is a file with the wrong content, if no other package has an error for it.
type badInput struct{ error }

func (b badInput) Unwrap() error { return b.error }

func inputf(format string, args ...any) error { return badInput{fmt.Errorf(format, args...)} }

// errRefuted is returned by an audit that contradicts a claim.
var errRefuted = errors.New("the audit contradicts the plan's claim")

// exitCode returns the code of the first kind that matches the error.
func exitCode(err error) int {
	for _, kind := range []struct {
		code int
		is   func(error) bool
	}{
		{exitBudget, isAny(accountant.ErrBudgetExceeded)},
		{exitCancelled, isAny(context.Canceled)},
		{exitPipe, isAny(syscall.EPIPE, io.ErrClosedPipe)},
		{exitTaken, isAny(privgen.ErrTaken, durable.ErrLocked)},
		{exitLedger, isAny(ledger.ErrDamaged, ledger.ErrRolledBack, ledger.ErrOtherLedger)},
		{exitNoise, isAny(privgen.ErrNoise)},
		{exitRefuted, isAny(errRefuted)},
		{exitUsage, isA[usage]},
		{exitIO, isFile},
		{exitInput, isInput},
	} {
		if kind.is(err) {
			return kind.code
		}
	}
	return exitInternal
}

func isAny(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func isFile(err error) bool {
	return isA[*fs.PathError](err) || isA[*os.LinkError](err) || isA[*os.SyscallError](err) ||
		isA[syscall.Errno](err)
}

func isInput(err error) bool {
	return isA[badInput](err) || isA[*param.Error](err) || isA[*records.LimitError](err) ||
		isA[*json.SyntaxError](err) || isA[*json.UnmarshalTypeError](err) ||
		isA[*param.KeyError](err) || errors.Is(err, param.ErrTooMuch) ||
		isAny(records.ErrFormat, records.ErrData, privgen.ErrSchema, privgen.ErrRecords,
			privgen.ErrPlan, privgen.ErrFormat, privgen.ErrVersion, privgen.ErrTruncated,
			privgen.ErrChecksum, draft.ErrSchema, ledger.ErrNotFound, ledger.ErrExists,
			accountant.ErrUnsupported, ledger.ErrEmpty)(err)
}

// complain prints an error on one line of standard error.
func (a *app) complain(command string, code int, err error) {
	text := inUsersWords(oneLine(err))
	switch code {
	case exitPipe:
		text = "the reader of standard output closed it before everything was written"
	case exitUsage:
		text += fmt.Sprintf(" (see %s --help)", command)
	}
	if a.asJSON {
		line, _ := json.Marshal(struct {
			Command string `json:"command"`
			Error   string `json:"error"`
			Code    int    `json:"exit_code"`
		}{command, text, code})
		fmt.Fprintf(a.stderr, "%s\n", line)
		return
	}
	fmt.Fprintf(a.stderr, "%s: %s\n", command, text)
}

// oneLine returns an error's text on one line, of printable characters only. Joined errors have
// line breaks, and control characters could move a terminal's cursor.
func oneLine(err error) string {
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

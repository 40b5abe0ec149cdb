package program

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// columns is how wide the help of a program is at most.
const columns = 100

// NewFlags is the flags of a program, whose help fits the screen. Parse prints the help for -h and
// returns flag.ErrHelp, which [Main] takes for success.
func NewFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.Usage = func() { help(f.Output(), f) }
	return f
}

func help(w io.Writer, f *flag.FlagSet) {
	fmt.Fprintf(w, "Usage of %s:\n", f.Name())
	f.VisitAll(func(l *flag.Flag) {
		kind, usage := flag.UnquoteUsage(l)
		if l.DefValue != "" && l.DefValue != "0" && l.DefValue != "false" {
			usage += fmt.Sprintf(" (default %v)", l.DefValue)
		}
		fmt.Fprintln(w, strings.TrimRight("  -"+l.Name+" "+kind, " "))
		for _, line := range wrap(usage, columns-8) {
			fmt.Fprintln(w, "        "+line)
		}
	})
}

// wrap breaks a text at blanks.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

package program

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// NewFlags returns a flag set for a program. Lines of its help fit the screen. For -h, Parse prints
// the help and returns flag.ErrHelp, which [Main] treats as success.
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
		for _, line := range param.Words(usage, param.Columns-8) {
			fmt.Fprintln(w, "        "+line)
		}
	})
}

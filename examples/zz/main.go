package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
)

// schema train out epsilon seed n
func main() {
	a := os.Args[1:]
	s, err := records.OpenSchema(a[0])
	no(err)
	rows, err := records.CSV{Header: true, Limits: program.Trusted()}.OpenFrame(a[1], s)
	no(err)
	e, _ := strconv.ParseFloat(a[3], 64)
	seed, _ := strconv.ParseUint(a[4], 10, 64)
	n := rows.Len()
	if len(a) > 5 {
		n, _ = strconv.Atoi(a[5])
	}
	before := program.ProcessorTime()
	p, err := privgen.AIM(s, accountant.Budget{Epsilon: e, Delta: 1e-5}).Nominal(rows.Len()).Seed(seed).Plan()
	no(err)
	if os.Getenv("PLAN") != "" {
		fmt.Println(p)
	}
	g, err := p.Fit(context.Background(), rows)
	no(err)
	fmt.Fprintln(os.Stderr, "fit", (program.ProcessorTime() - before).Seconds())
	out, err := g.Sample(context.Background(), n, privgen.Seed(seed))
	no(err)
	no(program.Save(a[2], func(w io.Writer) error {
		return records.CSV{Header: true}.WriteFrame(w, out.(*records.Frame))
	}))
}

func no(err error) {
	if err != nil {
		panic(err)
	}
}

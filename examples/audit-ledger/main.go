// Command audit-ledger prints the bill of a saved privacy ledger: its guarantee, its price, and
// limits on the success of attacks. It also prints a program that recomputes the price with an
// independent accountant.
//
//	go -C examples run ./audit-ledger              the ledger of an imaginary training run
//	go -C examples run ./audit-ledger ledger.json  a ledger in a file, such as own-loop writes
//	go -C examples run ./audit-ledger -store DIR patients-2026  a ledger in a store, with its history
//
// The program only reads a store. Other processes may use the store at the same time.
//
// It takes seconds; the trade-off curve of a long run with sampling takes the most time.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
)

//go:embed ledger.json
var sample []byte

func main() {
	program.Main("audit-ledger", func(_ context.Context, args []string) error {
		f := program.NewFlags("audit-ledger")
		folder := f.String("store", "", "folder of a store; the argument then names one of its ledgers")
		if err := f.Parse(args); err != nil {
			return err
		}
		return run(*folder, f.Arg(0))
	})
}

func run(folder, name string) error {
	ledger, err := open(folder, name)
	if err != nil {
		return err
	}
	defer ledger.Close()
	fmt.Print(ledger.Guarantee())
	if folder != "" {
		if err := history(folder, name); err != nil {
			return err
		}
	}
	if err := explain(ledger); err != nil {
		return err
	}
	script, err := ledger.DPAccountingScript()
	if err != nil {
		fmt.Println("\nNo independent recomputation:", err)
		return nil
	}
	fmt.Printf("\nRecompute it with dp_accounting (Python):\n\n%s", script)
	return nil
}

// open reads the requested ledger.
func open(folder, name string) (*ledger.Ledger, error) {
	if folder != "" {
		return ledger.Dir(folder).Audit(context.Background(), name)
	}
	data := sample
	if name != "" {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return ledger.Unmarshal(data)
}

// history prints the lines of a ledger in a store. Each line is checked against the line before it.
func history(folder, name string) error {
	fmt.Print("\nHistory\n")
	for line, err := range ledger.Dir(folder).History(context.Background(), name) {
		if err != nil {
			return err
		}
		text := string(line.Text)
		if line.Snapshot {
			text = fmt.Sprintf(`{"line":%d,"snapshot":…}`, line.Line) // a snapshot of the lines above
		}
		fmt.Printf("  %.12s  %s\n", line.Hash, text)
	}
	return nil
}

// explain describes the meaning of the numbers for one person.
func explain(ledger *ledger.Ledger) error {
	event := ledger.Event()
	attack, err := accountant.AttackBounds(event, ledger.Budget().Delta, ledger.Relation())
	if err != nil {
		return err
	}
	fmt.Printf("\nIn words\n  %s\n", attack)
	fmt.Printf("  as one Gaussian release: at most of effect %s, best fit %.3g\n",
		accountant.FormatUpper(attack.GaussianEffect, 3), attack.GaussianFit)
	several, err := accountant.GroupEpsilon(event, 3, ledger.Budget().Delta, ledger.Relation())
	if err != nil {
		return err
	}
	fmt.Printf("  for a group of three records: ε = %s\n", accountant.FormatUpper(several.Upper, 4))
	points, err := accountant.TradeOff(event, ledger.Relation(), 0.001, 0.01, 0.1)
	if err != nil {
		return err
	}
	for _, p := range points {
		fmt.Printf("  an attack that accuses %g of the others recognises at most %s of the members\n",
			p.FalsePositive, accountant.FormatUpper(p.TruePositive, 3))
	}
	return nil
}

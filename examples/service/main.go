// Command service learns a generator from a CSV file once and then serves synthetic rows over HTTP.
//
//	go -C examples run ./service          learn from examples/quickstart/people.csv and serve
//	curl 'localhost:8080/rows.csv?n=5' in another terminal
//
// For your own table, pass -csv FILE, and -schema FILE as written by privgen draft. The ledger and
// the checkpoint are kept in -folder, so a restart spends nothing more. The checkpoint of a
// finished run holds the generator; no file of the generator alone is written.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

func main() { program.Main("service", run) }

func run(ctx context.Context, args []string) error {
	f := program.NewFlags("service")
	path := f.String("csv", "quickstart/people.csv",
		"CSV file with a header: the private rows")
	public := f.String("schema", "", "schema file (default: the schema of people.csv)")
	nominal := f.Int("nominal", 2000, "public nominal number of rows")
	folder := f.String("folder", "out/service", "folder for the ledger and the checkpoint")
	listen := f.String("listen", "localhost:8080", "address to serve at")
	budget := accountant.Budget{}
	program.BudgetFlags(f, &budget, 1, 1e-5)
	if err := f.Parse(args); err != nil {
		return err
	}
	schema, err := people()
	if *public != "" {
		schema, err = records.OpenSchema(*public)
	}
	if err != nil {
		return err
	}
	plan, err := privgen.AIM(schema, budget).Nominal(*nominal).Plan()
	if err != nil {
		return err
	}
	gen, err := learn(ctx, plan, *path, *folder)
	if err != nil {
		return err
	}
	fmt.Println(gen.Guarantee())
	fmt.Printf("\nserving http://%s/rows.csv?n=100\n", *listen)
	server := &http.Server{Addr: *listen, Handler: rows(gen), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// people returns the public schema of people.csv: bounds and levels come from the form that people
// fill in, never from their answers.
func people() (records.Schema, error) {
	return records.NewSchema(
		records.Integer("age", 17, 90),
		records.Categorical("work", "private", "self", "state", "none"),
		records.Integer("hours", 0, 99),
		records.Label("income", "<=50K", ">50K"))
}

// learn opens the ledger, or creates it with the plan's budget, and fits the plan. With the
// checkpoint a second call continues an interrupted run, or returns the result of a complete one.
func learn(ctx context.Context, plan privgen.Plan, csv, folder string) (*privgen.Generator, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	table, err := records.CSV{Header: true}.OpenFrame(csv, plan.Schema())
	if err != nil {
		return nil, err
	}
	ledgers := ledger.Dir(filepath.Join(folder, "ledgers"))
	l, err := ledgers.OpenOrCreate(ctx, "people", ledger.Terms{Budget: plan.Budget()})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return plan.FitOn(ctx, l, table, privgen.OnProgress(program.NewMeter().Show),
		privgen.Checkpoint(filepath.Join(folder, "people.ckpt")))
}

// rows answers every request with new synthetic rows. It never reads real rows.
func rows(gen *privgen.Generator) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rows.csv", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.FormValue("n"))
		if err != nil || n < 1 || n > 1e6 {
			http.Error(w, "n: want a number of rows from 1 to 1000000", http.StatusBadRequest)
			return
		}
		drawn, err := gen.Sample(r.Context(), n)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		frame, _ := records.AsFrame(drawn)
		w.Header().Set("Content-Type", "text/csv")
		_ = records.CSV{Header: true}.WriteFrame(w, frame) // an error means that the client has gone
	})
	return mux
}

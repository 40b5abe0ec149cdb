package tutorials_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

// people returns the public schema: bounds and levels come from the form that people fill in.
func people() (records.Schema, error) {
	return records.NewSchema(
		records.Integer("age", 17, 90),
		records.Categorical("work", "private", "self", "state", "none"),
		records.Integer("hours", 0, 99),
		records.Label("income", "<=50K", ">50K"))
}

// train fits a generator on a shared ledger and saves it. It can be called again after a crash.
func train(ctx context.Context, folder, csv string) error {
	schema, err := people()
	if err != nil {
		return err
	}
	plan, err := privgen.MERF(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).
		Train(merf.GeneratorConfig{Steps: 100}).Plan()
	if err != nil {
		return err
	}
	table, err := records.CSV{Header: true}.OpenFrame(csv, schema)
	if err != nil {
		return err
	}
	l, err := ledger.Dir(filepath.Join(folder, "ledgers")).Open(ctx, "people-2026")
	if err != nil {
		return err
	}
	defer l.Close()
	gen, err := plan.FitOn(ctx, l, table,
		privgen.Checkpoint(filepath.Join(folder, "people.ckpt")))
	if err != nil {
		return err
	}
	return gen.SaveFile(filepath.Join(folder, "people.privgen"))
}

// serve answers every request with 100 fresh synthetic rows. It never opens the real table.
func serve(path string) (http.Handler, error) {
	gen, err := privgen.LoadFile(path)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rows, err := gen.Sample(r.Context(), 100)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		frame, _ := records.AsFrame(rows)
		_ = records.CSV{Header: true}.WriteFrame(w, frame)
	}), nil
}

func Example_table() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "people")
	check(err)
	defer os.RemoveAll(folder)
	_, err = ledger.Dir(filepath.Join(folder, "ledgers")).Create(ctx, "people-2026",
		ledger.Terms{Budget: accountant.Budget{Epsilon: 2, Delta: 1e-5}})
	check(err)

	check(train(ctx, folder, "../quickstart/people.csv"))
	check(train(ctx, folder, "../quickstart/people.csv")) // complete: returns the same result

	handler, err := serve(filepath.Join(folder, "people.privgen"))
	check(err)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/people.csv", nil))
	lines := strings.Split(strings.TrimSpace(answer.Body.String()), "\n")
	fmt.Println(lines[0])
	fmt.Println(len(lines)-1, "rows")

	l, err := ledger.Dir(filepath.Join(folder, "ledgers")).Audit(ctx, "people-2026")
	check(err)
	fmt.Printf("ε ≤ %s of 2 is spent\n", accountant.FormatUpper(l.Epsilon().Upper, 4))
	// Output:
	// age,work,hours,income
	// 100 rows
	// ε ≤ 1 of 2 is spent
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

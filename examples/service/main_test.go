package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestServiceSpendsOnce learns twice in one folder, as after a restart, and then requests rows. The
// budget must be spent once.
func TestServiceSpendsOnce(t *testing.T) {
	schema, err := people()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := privgen.AIM(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).Nominal(2000).Plan()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for range 2 {
		gen, err := learn(t.Context(), plan, filepath.Join("..", "quickstart", "people.csv"), folder)
		if err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		rows(gen).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/rows.csv?n=20", nil))
		lines := strings.Split(strings.TrimSpace(answer.Body.String()), "\n")
		if answer.Code != http.StatusOK || lines[0] != "age,work,hours,income" || len(lines) != 21 {
			t.Errorf("got status %d and %q, want 20 rows with a header", answer.Code, answer.Body)
		}
	}
	l, err := ledger.Dir(filepath.Join(folder, "ledgers")).Audit(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if spent := l.Epsilon().Upper; !(spent > 0.9 && spent <= 1) {
		t.Errorf("got spent ε = %v after two fits, want 1", spent)
	}
}

func TestServiceRefusesNumbers(t *testing.T) {
	for _, n := range []string{"", "x", "0", "1000001"} {
		answer := httptest.NewRecorder()
		rows(nil).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/rows.csv?n="+n, nil))
		if answer.Code != http.StatusBadRequest {
			t.Errorf("n=%q: got status %d, want 400", n, answer.Code)
		}
	}
}

package program_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/internal/program"
)

func TestMeter(t *testing.T) {
	var out bytes.Buffer
	m := program.Meter{To: &out, Layout: "%s %d/%d ε %.1f %v", Every: time.Hour}
	for step := 1; step <= 3; step++ {
		m.Show(privgen.Progress{Stage: "training", Step: step, Of: 3, Epsilon: 0.5,
			Elapsed: 2100 * time.Millisecond})
	}
	want := "\rtraining 1/3 ε 0.5 2s   \rtraining 3/3 ε 0.5 2s   \n" // the second came too soon
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	m = program.Meter{To: &out, Layout: "%s %[5]v", Erase: true}
	m.Show(privgen.Progress{Stage: "training", Step: 3, Of: 3})
	if want := "\rtraining 0s   \r\033[K"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestBudgetFlags(t *testing.T) {
	var b accountant.Budget
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	program.BudgetFlags(f, &b, 4, 1e-5)
	if err := f.Parse([]string{"-epsilon", "2", "-relation", accountant.ReplaceOne.String()}); err !=
		nil {
		t.Fatal(err)
	}
	if want := (accountant.Budget{Epsilon: 2, Delta: 1e-5, Relation: accountant.ReplaceOne}); b !=
		want {
		t.Errorf("got %+v, want %+v", b, want)
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	err := program.Save(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "text" {
		t.Errorf("file holds %q", got)
	}
	broken := errors.New("broken")
	if err := program.Save(path, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("err = %v, want that of write", err)
	}
}

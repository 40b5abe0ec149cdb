package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed7ba64551/privgen/connect/sqlledger"
	"github.com/seed7ba64551/privgen/ledger"
)

// storeVariable is the environment variable that names the store.
const storeVariable = "PRIVGEN_STORE"

// defaultStore is a folder in the working directory.
const defaultStore = "ledgers"

// where names a store and one of its ledgers.
type where struct {
	store  string
	ledger string
	make   bool
	plans  bool // several plans share the ledger, so the budget of one is too small
}

func (w *where) storeFlag(f *pflag.FlagSet) {
	f.StringVar(&w.store, "store", "",
		"`place` of the ledgers: a folder, sqlite:FILE or postgres://…; default $"+storeVariable+
			", or else the folder "+defaultStore)
}

func (w *where) flags(c *cobra.Command) {
	w.storeFlag(c.Flags())
	c.Flags().StringVar(&w.ledger, "ledger", "",
		"`name` of the ledger of these records; use the same ledger for all work on a data set")
	c.Flags().BoolVar(&w.make, "new-ledger", false,
		"create the ledger with the plan's budget if the store has no ledger of that name")
	w.complete(c)
}

// complete completes the names of the store's ledgers.
func (w *where) complete(c *cobra.Command) {
	c.RegisterFlagCompletionFunc("ledger", func(c *cobra.Command, _ []string, _ string) ([]string,
		cobra.ShellCompDirective) {
		return w.names(c.Context())
	})
}

func (w *where) names(ctx context.Context) ([]string, cobra.ShellCompDirective) {
	s, err := w.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names, err := s.Names(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// place returns the address of the store.
func (w *where) place() string {
	return strings.TrimSpace(cmp.Or(w.store, os.Getenv(storeVariable), defaultStore))
}

// files returns the files of the ledger.
func (w *where) files() (files []string) {
	place := w.place()
	if path, ok := strings.CutPrefix(place, "sqlite:"); ok {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		return []string{path, path + "-wal", path + "-shm", path + "-lock"}
	}
	for _, name := range []string{"journal", "mark", "lock"} {
		files = append(files, filepath.Join(strings.TrimPrefix(place, "dir:"), w.ledger, name))
	}
	return files
}

// open opens the store.
func (w *where) open() (*ledger.Store, error) {
	place := w.place()
	if keysAndValues(place) {
		return nil, usagef("--store: an address of keys and values: want postgres://…, or dir:FOLDER " +
			"for a folder with such a name") // the address may contain a password
	}
	if path, ok := strings.CutPrefix(place, "sqlite:"); ok {
		return ledger.NewStore(sqlledger.SQLite(path)), nil
	}
	if strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://") {
		backend, err := sqlledger.PostgreSQL(place)
		if err != nil {
			return nil, err
		}
		return ledger.NewStore(backend), nil
	}
	if path, ok := strings.CutPrefix(place, "dir:"); ok {
		return ledger.Dir(path), nil
	}
	if scheme := schemeOf(place); scheme != "" {
		return nil, usagef("--store: unknown scheme %q: want a folder, dir:FOLDER, sqlite:FILE, "+
			"postgres://… or postgresql://…", scheme) // the rest may contain a password
	}
	return ledger.Dir(place), nil
}

// schemeOf returns the letters before the first colon, such as mysql, or what is before ://, such
// as postgresql+ssl. It returns "" for any other place. A single letter is a drive of Windows,
// not a scheme.
func schemeOf(place string) string {
	scheme, rest, _ := strings.Cut(place, ":")
	if scheme == place || len(scheme) < 2 || !isWord(scheme, "") &&
		!(strings.HasPrefix(rest, "//") && isWord(scheme, "+-.0123456789")) {
		return ""
	}
	return scheme
}

// keysAndValues reports whether a place looks like host=… password=…, as libpq reads it.
func keysAndValues(place string) bool {
	key, _, found := strings.Cut(place, "=")
	return found && isWord(strings.TrimSpace(key), "_")
}

// isWord reports whether a text is a letter followed by letters and other characters.
func isWord(text, others string) bool {
	for i, c := range strings.ToLower(text) {
		if (c < 'a' || c > 'z') && (i == 0 || !strings.ContainsRune(others, c)) {
			return false
		}
	}
	return text != ""
}

// use opens the ledger for reservations. The ledger stays open when ctx is cancelled, since a
// cancelled run still records the uses that it took.
func (w *where) use(a *app, ctx context.Context, terms ledger.Terms) (*ledger.Ledger,
	error) {
	if w.ledger == "" {
		return nil, usagef("--ledger: want the name of the ledger of these records, such as patients-2026")
	}
	s, err := w.open()
	if err != nil {
		return nil, err
	}
	if err := a.begin(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	l, err := s.Open(ctx, w.ledger)
	if !errors.Is(err, ledger.ErrNotFound) && !errors.Is(err, ledger.ErrEmpty) {
		return l, err
	}
	if !w.make {
		advice := ", or give --new-ledger to create it with the plan's budget"
		if w.plans {
			advice = " and a budget for all plans together"
		}
		return nil, inputf("the store has no ledger %q: create it with `privgen ledger create`%s",
			w.ledger, advice)
	}
	l, err = s.Create(ctx, w.ledger, terms)
	if errors.Is(err, ledger.ErrExists) { // another process was faster
		return s.Open(ctx, w.ledger)
	}
	if err == nil {
		budget := terms.Budget
		a.note("created the ledger %q with a budget of ε = %g, δ = %g (%v)", w.ledger, budget.Epsilon,
			budget.Delta, budget.Relation)
	}
	return l, err
}

package sqlrows_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/connect/sqlrows"
	"github.com/seed7ba64551/privgen/records"
)

// TestTimesComeBack: times are exactly the same after writing to a database and reading.
// Identifiers are written but not read.
func TestTimesComeBack(t *testing.T) {
	ctx := context.Background()
	from := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	s := must(records.NewSchema(
		records.Datetime("shipped", from, from.AddDate(9, 0, 0), time.Second).WithMissing(),
		records.Datetime("ordered", from, from.AddDate(9, 0, 0), 24*time.Hour),
		records.Duration("wait", 0, time.Hour, time.Millisecond),
		records.Duration("stay", -time.Hour, time.Hour, time.Second).WithMissing(),
		records.Integer("account", 0, 1<<61), records.Hashed("drug", 10),
		records.Identifier("id", records.Sequence(7))))(t)
	db := database(t, `create table visits (shipped timestamp, ordered date, wait numeric,
		stay bigint, account bigint, drug text, id bigint primary key)`)
	f := must(records.FromValues(s,
		[]any{"1994-05-06T07:08:09Z", "1994-05-01", 0.125, -60, int64(1<<60 + 1), "aspirin", 5},
		[]any{nil, "1999-12-31", "3600", nil, 0, "x", nil}))(t)
	named, err := records.WithIdentifiers(f, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlrows.Insert(ctx, db, sqlrows.Question, "visits", s, parts(named)); err != nil {
		t.Fatal(err)
	}
	back := must(sqlrows.ReadFrame(ctx, db, s, "select * from visits order by id"))(t)
	if cellsOf(back) != cellsOf(f) || records.Check(back) != nil {
		t.Errorf("%s, want %s", cellsOf(back), cellsOf(f))
	}
	var ids int
	if err := db.QueryRow("select sum(id) from visits where shipped is null or wait > 0").
		Scan(&ids); err != nil || ids != 15 {
		t.Errorf("the written identifiers add up to %d, error %v", ids, err)
	}
}

package ledger_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/ledger/ledgertest"
)

var kills = flag.Int("kills", 12, "processes that TestDirKill kills; above 100, 8 processes make "+
	"2,000 reservations each")

func TestDirKill(t *testing.T) {
	m := ledgertest.Load{Kills: *kills, Processes: 4, Reservations: 60}
	if *kills > 100 {
		m.Processes, m.Reservations = 8, 2000
	}
	ledgertest.Kill(t, folders(), m)
}

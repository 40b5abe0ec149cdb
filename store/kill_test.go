package store_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/store/storetest"
)

var kills = flag.Int("kills", 12, "processes killed by TestDirKill; above 100 with 8 processes of "+
	"2,000 reservations")

func TestDirKill(t *testing.T) {
	m := storetest.Load{Kills: *kills, Processes: 4, Reservations: 60}
	if *kills > 100 {
		m.Processes, m.Reservations = 8, 2000
	}
	storetest.Kill(t, folders(), m)
}

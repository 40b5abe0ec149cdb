package device

import "testing"

// TestDivide checks that every core belongs to exactly one of the backends.
func TestDivide(t *testing.T) {
	for _, c := range []struct{ workers, n, want int }{{1, 6, 1}, {2, 6, 2}, {16, 6, 6}, {3, 1, 1}} {
		list := Divide(CPUWith(c.workers), c.n)
		total := 0
		for _, b := range list {
			if b.Workers() < 1 {
				t.Errorf("%+v: a backend has no core", c)
			}
			total += b.Workers()
		}
		if len(list) != c.want || total != c.workers {
			t.Errorf("%+v: got %d backends with %d cores", c, len(list), total)
		}
	}
}

// TestOthersAreNotDivided checks that Divide returns a backend unchanged if it is not a Divider.
func TestOthersAreNotDivided(t *testing.T) {
	type other struct{ Backend }
	b := other{CPUWith(4)}
	if list := Divide(b, 4); len(list) != 1 || list[0] != Backend(b) {
		t.Errorf("%d backends, want the given one alone", len(list))
	}
}

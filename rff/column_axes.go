package rff

// oneHot is the axis of a categorical column. Its features are the column's coordinates.
type oneHot struct{ at, levels int }

func (a oneHot) width() int { return a.levels }

func (a oneHot) features(x, p []float32) { copy(p, x[a.at:a.at+a.levels]) }

func (a oneHot) span() (lo, hi int) { return a.at, a.at + a.levels }

func (a oneHot) list(in []int32, x []float32, places []int32, values []float32) ([]int32,
	[]float32) {
	for i, v := range x {
		if v != 0 {
			places, values = append(places, in[i]-int32(a.at)), append(values, v)
		}
	}
	return places, values
}

func (a oneHot) backward(_, dp, dx []float32) {
	for i, d := range dp {
		dx[a.at+i] += d
	}
}

// hat is the axis of a number. Its features are hat functions around knots that are evenly spaced
// over [0,1]. The hat functions are not negative and add up to 1, so they are a soft one-hot code.
// A missing number has a feature of its own.
type hat struct {
	at, knots int
	missing   bool
}

func (a hat) width() int {
	if a.missing {
		return a.knots + 1
	}
	return a.knots
}

// cell returns the knot below a number, and the number's position, in [0, 1], between this knot and
// the next. NaN counts as 0.
func (a hat) cell(x []float32) (knot int, part float32) {
	v := x[a.at]
	if !(v > 0) {
		v = 0
	}
	u := min(v, 1) * float32(a.knots-1)
	knot = min(int(u), a.knots-2)
	return knot, u - float32(knot)
}

// present returns 1 minus the coordinate that marks a missing number.
func (a hat) present(x []float32) float32 {
	if !a.missing || !(x[a.at+1] > 0) {
		return 1
	}
	return 1 - min(x[a.at+1], 1)
}

func (a hat) features(x, p []float32) {
	clear(p)
	knot, part := a.cell(x)
	there := a.present(x)
	p[knot], p[knot+1] = there*(1-part), there*part
	if a.missing {
		p[a.knots] = 1 - there
	}
}

func (a hat) span() (lo, hi int) {
	if a.missing {
		return a.at, a.at + 2
	}
	return a.at, a.at + 1
}

func (a hat) list(in []int32, x []float32, places []int32, values []float32) ([]int32, []float32) {
	var own [2]float32
	for i, v := range x {
		own[int(in[i])-a.at] = v
	}
	a.at = 0
	knot, part := a.cell(own[:])
	there := a.present(own[:])
	add := func(place int, v float32) {
		if v != 0 {
			places, values = append(places, int32(place)), append(values, v)
		}
	}
	add(knot, there*(1-part))
	add(knot+1, there*part)
	if a.missing {
		add(a.knots, 1-there)
	}
	return places, values
}

func (a hat) backward(x, dp, dx []float32) {
	knot, part := a.cell(x)
	there := a.present(x)
	if v := x[a.at]; v >= 0 && v <= 1 {
		dx[a.at] += there * float32(a.knots-1) * (dp[knot+1] - dp[knot])
	}
	if a.missing {
		dx[a.at+1] += dp[a.knots] - (1-part)*dp[knot] - part*dp[knot+1]
	}
}

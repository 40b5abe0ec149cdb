package rff

import "github.com/seed7ba64551/privgen/device"

// oneHot is the axis of a categorical column. Its features are the column's coordinates.
type oneHot struct{ at, levels int }

func (a oneHot) width() int { return a.levels }

func (a oneHot) features(x, p device.Matrix) {
	for i := range x.Rows {
		code := p.Data[i*p.Stride:][:a.levels]
		for j, v := range x.Data[i*x.Stride+a.at:][:a.levels] {
			code[j] += v
		}
	}
}

func (a oneHot) end() int { return a.at + a.levels }

func (a oneHot) list(in []int32, x []float32, places []int32, values []float32) ([]int32,
	[]float32) {
	for i, v := range x {
		if v != 0 {
			places, values = append(places, in[i]-int32(a.at)), append(values, v)
		}
	}
	return places, values
}

func (a oneHot) backward(x, dp device.Matrix, own []float32, dx device.Matrix) {
	for i := range x.Rows {
		d, to := dp.Data[i*dp.Stride:][:a.levels], dx.Data[i*dx.Stride+a.at:][:a.levels]
		for j, v := range x.Data[i*x.Stride+a.at:][:a.levels] {
			to[j] = d[j] + own[i]*v
		}
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

// code returns the entries of the code at the knots around a number.
func (a hat) code(x []float32) (knot int, part, there, low, high float32) {
	knot, part = a.cell(x)
	there = a.present(x)
	return knot, part, there, float32(there * (1 - part)), float32(there * part)
}

func (a hat) features(x, p device.Matrix) {
	for i := range x.Rows {
		knot, _, there, low, high := a.code(x.Data[i*x.Stride:])
		code := p.Data[i*p.Stride:]
		code[knot] += low
		code[knot+1] += high
		if a.missing {
			code[a.knots] += 1 - there
		}
	}
}

func (a hat) end() int {
	if a.missing {
		return a.at + 2
	}
	return a.at + 1
}

func (a hat) list(in []int32, x []float32, places []int32, values []float32) ([]int32, []float32) {
	var own [2]float32
	for i, v := range x {
		own[int(in[i])-a.at] = v
	}
	a.at = 0
	knot, _, there, low, high := a.code(own[:])
	add := func(place int, v float32) {
		if v != 0 {
			places, values = append(places, int32(place)), append(values, v)
		}
	}
	add(knot, low)
	add(knot+1, high)
	if a.missing {
		add(a.knots, 1-there)
	}
	return places, values
}

func (a hat) backward(x, dp device.Matrix, own []float32, dx device.Matrix) {
	for i := range x.Rows {
		row, d, to := x.Data[i*x.Stride:], dp.Data[i*dp.Stride:], dx.Data[i*dx.Stride:]
		knot, part, there, low, high := a.code(row)
		low, high = float32(d[knot]+own[i]*low), float32(d[knot+1]+own[i]*high)
		to[a.at] = 0
		if v := row[a.at]; v >= 0 && v <= 1 {
			to[a.at] = there * float32(a.knots-1) * (high - low)
		}
		if a.missing {
			to[a.at+1] = float32(d[a.knots]+own[i]*(1-there)) - (1-part)*low - part*high
		}
	}
}

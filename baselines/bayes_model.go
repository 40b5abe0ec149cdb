package baselines

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
)

// knownMoments holds what the first release implies.
type knownMoments struct {
	classes  []float64 // number of records of each class, at least the noise
	fraction []float64 // of the records in each class
	mean     []float64 // of each coordinate; of the rows in which a number is not missing
	spread   []float64 // standard deviation of each coordinate
	present  []float64 // fraction of the records in which the column is not missing
}

const (
	leastSpread  = 0.1  // smallest standard deviation of a number, in units of half its range
	leastFlag    = 0.1  // smallest number by which an indicator is divided
	quietNoise   = 0.05 // noise of a class's mean, in standard deviations, that permits headroom
	mostHeadroom = 3    // largest norm of a row that is not clipped, in expected norms
)

// known computes the moments from the released sums. wider is the factor by which the noise exceeds
// the plan's, see synth.Run.Wider.
//
// If the noise exceeds the differences between columns, the noisy moments of a column say little
// about it. So means and variances are shrunk towards those of all columns; see shrink.
func (w bayesWork) known(sums, counts []float64, wider float64) knownMoments {
	columns, least := w.columns(), wider*w.countStd(w.noise)
	total := 0.0
	for _, c := range counts {
		total += c
	}
	total = max(total, least, 1)
	k := knownMoments{fraction: marginal.Simplex(counts, total)}
	sum := 0.0
	for c := range k.fraction {
		k.fraction[c] = max(k.fraction[c], 1/(1+total))
		k.classes = append(k.classes, max(k.fraction[c]*total, least, 1))
		sum += k.fraction[c]
	}
	for c := range k.fraction {
		k.fraction[c] /= sum
	}
	n, std := coordinates(columns), wider*w.momentStd(w.noise)
	k.mean, k.spread = make([]float64, n), make([]float64, n)
	var means, variances, noises, varianceNoises []float64
	at, square := 0, n
	for _, a := range columns {
		if a.Ordered() == 0 {
			for i, p := range marginal.Simplex(sums[at:at+a.Codes], total) {
				p = min(p, 1) // rounding may give slightly more
				k.mean[at+i], k.spread[at+i] = p, math.Sqrt(p*(1-p))
			}
			k.present = append(k.present, 1)
			at += width(a)
			continue
		}
		missing := 0.0
		if a.Missing {
			missing = min(max(sums[at+1]/total, 0), 1)
			k.mean[at+1], k.spread[at+1] = missing, math.Sqrt(missing*(1-missing))
		}
		rows := max((1-missing)*total, least)
		m := min(max(sums[at]/rows, -1), 1)
		noise := std / rows * (std / rows)
		means, noises = append(means, m), append(noises, noise)
		variances = append(variances, sums[square]/rows-m*m+noise)
		varianceNoises = append(varianceNoises, noise*(1+4*m*m))
		k.present = append(k.present, 1-missing)
		at += width(a)
		square++
	}
	shrink(means, noises)
	shrink(variances, varianceNoises)
	at, square = 0, 0
	for _, a := range columns {
		if a.Ordered() > 0 {
			k.mean[at] = min(max(means[square], -1), 1)
			k.spread[at] = math.Sqrt(min(max(variances[square], leastSpread*leastSpread), 1))
			square++
		}
		at += width(a)
	}
	return k
}

// shrink moves noisy values towards their mean, by the fraction of their variance that the noise
// explains. The argument noises has the variances of the noise.
//
// Source: Efron and Morris, "Stein's estimation rule and its competitors", 1973.
func shrink(values, noises []float64) {
	if len(values) < 2 {
		return
	}
	mean, variance := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for i, v := range values {
		variance += ((v-mean)*(v-mean) - noises[i]) / float64(len(values)-1)
	}
	variance = max(variance, 0)
	for i, v := range values {
		if noises[i] > 0 {
			values[i] = mean + (v-mean)*variance/(variance+noises[i])
		}
	}
}

// standard returns the standardisation by the moments. A position is divided by its standard
// deviation, and the indicator of a missing number likewise. The indicator of a level with the
// fraction p is divided by √p: the expected squared norm of a column is then the number of its
// levels minus 1, the number of its degrees of freedom. All coordinates are divided by the root of
// the expected squared norm of a row, times the headroom.
//
// A row of a longer norm is clipped, which biases the means of a class towards those of all
// records. If there is little noise, the headroom is therefore up to mostHeadroom, as far as the
// noise of a mean stays below quietNoise standard deviations. The argument std is the noise of the
// sums.
func (k knownMoments) standard(columns []marginal.Attribute, std float64) standard {
	s := standard{centre: k.mean, scale: make([]float64, len(k.mean))}
	squares, at := 0.0, 0
	for j, a := range columns {
		for i := at; i < at+width(a); i++ {
			unit, part := k.spread[i], 1.0
			switch {
			case a.Ordered() == 0:
				unit = max(math.Sqrt(k.mean[i]), leastFlag)
			case i > at:
				unit = max(unit, leastFlag)
			default:
				part = k.present[j]
			}
			s.scale[i] = 1 / unit
			squares += part * k.spread[i] * k.spread[i] / (unit * unit)
		}
		at += width(a)
	}
	norm := math.Sqrt(max(squares, 1))
	noise := std * norm / slices.Min(k.classes)
	norm *= min(max(quietNoise/noise, 1), mostHeadroom)
	for i := range s.scale {
		s.scale[i] /= norm
	}
	return s
}

// model returns the model in which the columns are independent given the class.
//
// Errors: ctx.Err().
func (w bayesWork) model(ctx context.Context, k knownMoments, by standard, sums []float64,
	std float64) (*tableModel, error) {
	columns, classes := w.columns(), w.classes()
	var groups []marginal.Grouping
	for _, a := range w.attributes {
		groups = append(groups, ungrouped(a))
	}
	means := k.classMeans(by, sums, std, columns)
	var factors []graphical.Factor
	at := 0
	for j, a := range columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		theta := make([]float64, a.Codes*classes)
		within := k.within(by, means, at, std)
		for c := range classes {
			for code, p := range law(a, means[c][at:at+width(a)], within) {
				theta[code*classes+c] = math.Log(max(p, leastCode))
			}
		}
		group := []int{j, len(columns)}
		if len(columns) == len(w.attributes) { // no class
			group = group[:1]
		}
		factors = append(factors, graphical.Factor{Attributes: group, Theta: theta})
		at += width(a)
	}
	if len(columns) < len(w.attributes) {
		theta := make([]float64, classes)
		for c, p := range k.fraction {
			theta[c] = math.Log(p)
		}
		factors = append(factors, graphical.Factor{Attributes: []int{len(columns)}, Theta: theta})
	}
	return newTableModel(w.Schema, marginal.MostCells, groups,
		graphical.NewModel(domainOf(groups), factors)), nil
}

// leastCode is the smallest probability of a code in a class.
const leastCode = 1e-12

// ungrouped returns the grouping in which every code is a group.
func ungrouped(a marginal.Attribute) marginal.Grouping {
	g := marginal.Grouping{Size: a.Codes}
	for code := range a.Codes {
		g.Group, g.Part = append(g.Group, uint16(code)), append(g.Part, 1/float64(a.Codes))
	}
	return g
}

// classMeans returns the mean of each coordinate in each class. The argument std is the noise of
// the sums.
//
// Noise can move the mean of a position beyond the column's bounds. The column would then have a
// single value in this class, which would tell the classes apart in synthetic rows. So means keep a
// distance from the bounds: a standard deviation of the column, or less if the noise is smaller or
// if the mean of all records is closer.
func (k knownMoments) classMeans(by standard, sums []float64, std float64,
	columns []marginal.Attribute) [][]float64 {
	out := make([][]float64, len(k.classes))
	all := make([]float64, len(k.mean))
	for c, n := range k.classes {
		out[c] = make([]float64, len(k.mean))
		for i, m := range k.mean {
			out[c][i] = m + sums[c*len(k.mean)+i]/(n*by.scale[i])
			all[i] += k.fraction[c] * out[c][i]
		}
	}
	at := 0
	for _, a := range columns {
		for c, n := range k.classes {
			if a.Ordered() > 0 {
				noise := std / (n * by.scale[at])
				most := max(math.Abs(all[at]), 1-min(k.spread[at], clearNoise*noise))
				out[c][at] = min(max(out[c][at], -most), most)
			}
		}
		at += width(a)
	}
	return out
}

// clearNoise is a number of standard deviations that the noise rarely exceeds.
const clearNoise = 2

// within returns the variance of a coordinate within classes, given its means in all classes. The
// noise of the sums, with standard deviation std, is a part of the variance between the means.
func (k knownMoments) within(by standard, means [][]float64, i int, std float64) float64 {
	between := 0.0
	for c, f := range k.fraction {
		d, noise := means[c][i]-k.mean[i], std/(k.classes[c]*by.scale[i])
		between += f * (d*d - noise*noise)
	}
	v := k.spread[i] * k.spread[i]
	return v - min(max(between, 0), mostBetween*v)
}

// mostBetween is the largest fraction of a column's variance that is taken for differences between
// classes.
const mostBetween = 0.75

// law returns the probabilities of a column's codes, given the means of its coordinates and the
// variance of its position.
func law(a marginal.Attribute, means []float64, variance float64) []float64 {
	n := a.Ordered()
	if n == 0 {
		return marginal.Simplex(means, 1)
	}
	x, weights := make([]float64, n), make([]float64, n)
	for code := range n {
		x[code], weights[code] = position(a, code), 1
	}
	if a.Cells > 0 { // a bound is a single value, and a cell holds many
		weights[0], weights[n-1] = 0.5, 0.5
	}
	mean := min(max(means[0], -1), 1)
	p := largestEntropy(x, weights, mean, min(variance+mean*mean, 1))
	if !a.Missing {
		return p
	}
	missing := min(max(means[1], 0), 1)
	for code := range p {
		p[code] *= 1 - missing
	}
	return append(p, missing)
}

// largestEntropy returns the distribution proportional to weight·exp(a·x + b·x²) whose means of x
// and x² are as given. A small penalty on a and b keeps them finite if no distribution has these
// means. Newton's method maximises the concave dual function.
func largestEntropy(x, weights []float64, mean, square float64) []float64 {
	const penalty, steps = 1e-5, 60
	p := make([]float64, len(x))
	// dual computes the distribution for a and b, and the value of the dual function.
	dual := func(a, b float64) float64 {
		top, total := math.Inf(-1), 0.0
		for i, v := range x {
			p[i] = (a + b*v) * v
			top = max(top, p[i])
		}
		for i := range p {
			p[i] = weights[i] * math.Exp(p[i]-top)
			total += p[i]
		}
		for i := range p {
			p[i] /= total
		}
		return a*mean + b*square - top - math.Log(total) - penalty/2*(a*a+b*b)
	}
	a, b := 0.0, 0.0
	value := dual(a, b)
	for range steps {
		var m [5]float64 // means of the powers of x
		for i, v := range x {
			for k, power := 0, p[i]; k < len(m); k, power = k+1, power*v {
				m[k] += power
			}
		}
		ga, gb := mean-m[1]-penalty*a, square-m[2]-penalty*b
		haa, hab, hbb := m[2]-m[1]*m[1]+penalty, m[3]-m[1]*m[2], m[4]-m[2]*m[2]+penalty
		det := haa*hbb - hab*hab
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		if gain := ga*da + gb*db; !(gain > 1e-12) {
			break
		}
		step := 1.0
		next := dual(a+da, b+db)
		for ; !(next > value) && step > 1e-6; next = dual(a+step*da, b+step*db) {
			step /= 2
		}
		if !(next > value) {
			break
		}
		a, b, value = a+step*da, b+step*db, next
	}
	dual(a, b)
	return p
}

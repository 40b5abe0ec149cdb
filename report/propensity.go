package report

import (
	"context"

	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// mostCoordinates is the largest number of coordinates that a discriminator is trained on.
const mostCoordinates = 5000

// propensity measures how well synthetic and real records can be distinguished.
func (m *maker) propensity(context.Context) error {
	if m.schema().Dim() > mostCoordinates || min(m.in.Real.Len(), m.in.Synthetic.Len()) < 8 {
		m.omit("propensity", "there are too few records, or more than 5,000 coordinates")
		return nil
	}
	held := m.in.HeldOut
	p, err := evaluate.Propensity{Seed: m.set.Seed}.Compare(m.in.Synthetic, m.in.Real, held)
	if err != nil {
		return err
	}
	out := &Propensity{Records: p.Records, Curve: curveOf(p.Curve),
		PMSE: besides(p.PMSE.Synthetic, p.PMSE.HeldOut), AUC: besides(p.ROC.Synthetic, p.ROC.HeldOut)}
	if held == nil {
		out.PMSE.HeldOut, out.AUC.HeldOut = none, none
	} else {
		c := curveOf(p.HeldCurve)
		out.HeldOut = &c
	}
	m.out.Propensity = out
	return nil
}

// rates returns the false positive rates of the points of curves. They are denser near 0.
func rates() []float64 {
	var list []float64
	for i := range 20 {
		list = append(list, float64(i)/1000)
	}
	for i := 2; i <= 100; i++ {
		list = append(list, float64(i)/100)
	}
	return list
}

// curveOf returns the highest true positive rate at each of the given false positive rates.
func curveOf(points []classify.ROCPoint) Curve {
	var c Curve
	at, best := 0, 0.0
	for _, r := range rates() {
		for at < len(points) && points[at].FalsePositive <= r {
			best = max(best, points[at].TruePositive)
			at++
		}
		c.FalsePositive = append(c.FalsePositive, Number(r))
		c.TruePositive = append(c.TruePositive, Number(best))
	}
	return c
}

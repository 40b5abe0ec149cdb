package accountant

// The methods below return the δ that one use of an atom loses outside its Rényi divergences. Every
// atom must have this method. So an atom that wraps other atoms cannot forget their slack.

func (a approximateAtom) slack() float64 { return a.delta }

// slack is zero: the divergences of a sample are computed from its pairs, which include infinite
// losses.
func (a sampledAtom) slack() float64 { return 0 }

// slack is zero: a curve that ends above δ = 0 has infinite divergences.
func (a curveAtom) slack() float64 { return 0 }

// slack is zero: runs with a slack of their own are refused.
func (a selectAtom) slack() float64 { return 0 }

func (a oneWayAtom) slack() float64 { return slackOf([]term{{a.within, 1}}) }

// slack is the largest of the lists.
func (a worstAtom) slack() float64 {
	worst := 0.0
	for _, c := range a.choice {
		worst = max(worst, slackOf(c))
	}
	return worst
}

func (a zcdpAtom) slack() float64             { return 0 }
func (a laplaceAtom) slack() float64          { return 0 }
func (a exponentialAtom) slack() float64      { return 0 }
func (a responseAtom) slack() float64         { return 0 }
func (a discreteLaplaceAtom) slack() float64  { return 0 }
func (a discreteGaussianAtom) slack() float64 { return 0 }
func (a gaussianAtom) slack() float64         { return 0 }
func (a sampledGaussian) slack() float64      { return 0 }
func (a gluedAtom) slack() float64            { return 0 }
func (a mixtureAtom) slack() float64          { return 0 }
func (a oppositeAtom) slack() float64         { return 0 }
func (a truncAtom) slack() float64            { return 0 }
func (a allocationAtom) slack() float64       { return 0 }

// slackOf returns the δ that atoms lose outside their Rényi divergences.
func slackOf(terms []term) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += float64(t.n) * t.atom.slack()
	}
	return sum
}

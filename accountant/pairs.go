package accountant

type pairs struct{}

func (a gaussianAtom) pairs() *pairs                  { return nil }
func (a sampledGaussian) pairs() *pairs               { return nil }
func (a gluedAtom) pairs() *pairs                     { return nil }
func (a sampledAtom) pairs() *pairs                   { return nil }
func (a gluedAtom) rdp(order float64) (float64, bool) { return 0, false }
func epsilonTermsOLD(terms []term, delta float64, r Relation) (Bound, error) {
	if len(terms) == 0 {
		return Bound{}, nil
	}
	rep, ok := rdpEpsilon(terms, delta, nil)
	if !ok {
		return Bound{}, unsupported("this event", r)
	}
	return Bound{0, rep.Epsilon, rep.Epsilon}, nil
}
func deltaTerms(terms []term, eps float64, r Relation) (Bound, error) {
	if len(terms) == 0 {
		return Bound{}, nil
	}
	d, ok := rdpDelta(terms, eps)
	if !ok {
		return Bound{}, unsupported("this event", r)
	}
	return Bound{0, d, d}, nil
}

const (
	engineNone   = "nothing released"
	engineRDP    = "rdp"
	engineFilter = "rdp filter"
)

type priced struct {
	Bound
	engine string
	edge   bool
}

func priceTerms(terms []term, delta float64, r Relation) (priced, error) {
	b, err := epsilonTermsOLD(terms, delta, r)
	return priced{Bound: b, engine: engineRDP}, err
}
func epsilonTerms(terms []term, delta float64, r Relation) (Bound, error) {
	p, err := priceTerms(terms, delta, r)
	return p.Bound, err
}

package gan

// A pace determines when a generator step is due.
type pace struct {
	rule     Frequency
	Critic   int     `json:"critic"`   // critic steps for each generator step
	Since    int     `json:"since"`    // critic steps since the last generator step
	Waited   int     `json:"waited"`   // generator steps since Critic last changed
	Accuracy float64 `json:"accuracy"` // moving average of the critic's accuracy on fakes
	Seen     int     `json:"seen"`     // critic steps included in Accuracy
}

// accuracyDecay is the decay that Bie, Kamath and Zhang use.
const accuracyDecay = 0.99

// note adds the accuracy of one critic step to the moving average.
func (p *pace) note(share float64) {
	p.Seen++
	keep := min(accuracyDecay, float64(p.Seen-1)/float64(p.Seen))
	p.Accuracy = keep*p.Accuracy + (1-keep)*share
}

// due counts a critic step and reports whether a generator step is due after it.
func (p *pace) due() bool {
	p.Since++
	if p.Since < p.Critic {
		return false
	}
	p.Since = 0
	p.Waited++
	if p.rule.Threshold > 0 && p.Waited >= p.rule.Patience && p.Accuracy <= p.rule.Threshold {
		p.Critic, p.Waited = nextRate(p.Critic), 0
	}
	return true
}

// nextRate returns the smallest of 1, 2, 5, 10, 20, 50, … that is larger than n.
func nextRate(n int) int {
	for unit := 1; unit < 1<<30; unit *= 10 {
		for _, m := range []int{1, 2, 5} {
			if m*unit > n {
				return m * unit
			}
		}
	}
	return n
}

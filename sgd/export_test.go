package sgd

// Members returns the number of cores that compute the gradients of a batch of the given size with
// their own replicas, and 1 if one network computes them.
func (t *Trainer) Members(rows int) int {
	if !t.crew.takes(rows) {
		return 1
	}
	return len(t.crew.members)
}

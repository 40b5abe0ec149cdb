package device

// Levels returns a backend for each level of vector instructions that this machine has.
func Levels(workers int) []Backend {
	var out []Backend
	for _, k := range available() {
		out = append(out, newCPU(workers, k))
	}
	return out
}

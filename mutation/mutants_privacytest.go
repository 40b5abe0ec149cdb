package main

// The tools that test claims: each fault would let a fault elsewhere pass.
func privacytestMutants() []mutant {
	const in = "privacytest"
	return []mutant{}
}

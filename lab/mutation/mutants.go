package main

import "slices"

// mutants returns all mutants, package by package.
func mutants() []mutant {
	return slices.Concat(mechanismMutants(), samplerMutants(), accountantMutants(), eventMutants(),
		ledgerMutants(),
		sgdMutants(), kmeansMutants(), modelMutants(), networkMutants(), criticMutants(),
		featureMutants(), recordMutants(),
		privacytestMutants(), dpgmMutants(), merfMutants(), ganMutants(), mixMutants(),
		baselineMutants(), frameMutants(), durableMutants(), storeMutants(), transactionMutants(),
		fixedPointMutants(), convolutionMutants(), edgeMutants(), gridMutants(), selectionMutants(),
		partMutants(), poolMutants(), innerMutants(), levelMutants(),
		labellingMutants(), augmentMutants(), halvesMutants(), wrapperMutants(),
		sqlMutants(), httpMutants(), reportMutants(), personMutants(), commandMutants(),
		partialMutants(), tableMutants(), lineMutants(), longerMutants(), rareMutants(),
		linkedMutants(), bandMutants(), allocationMutants(), priceMutants(), runningMutants(),
		quietMutants(), pinMutants(), placeMutants(), foundSystemMutants(), sweptMutants(),
		freshMutants(), limitMutants())
}

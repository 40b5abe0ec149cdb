package main

func Example() {
	main()
	// Output:
	// plan: merf, 268 features of tables of 4 columns (2 integer, 1 categorical), 2 classes
	// budget: ε = 1, δ = 1e-05, add_or_remove_one
	//   mean embedding        1 × Gaussian release, noise multiplier 3.73063; alone ε = 1
	//   noise on each sum of features ±3.843 (a record adds at most 1), on each count ±15.55
	//   training generators costs no privacy
	//   together  ε = 1
	// 1000 synthetic rows
	// Differential privacy guarantee
	//   promise      ε = 1, δ = 1e-05
	//   relation     add_or_remove_one: neighbouring data sets differ by the presence of one record
	//   unit         one record
	//   budget       ε = 1 at the same δ (100.0% used)
	//   accountant   analytic Gaussian curve; upper bound, at most 2.1e-10% above the smallest ε that holds
	//   sampler      all records (no sampling)
	//   noise        exact: sums in fixed point, noise sampled exactly on a public grid
	// Set aside (all of it counts, used or not)
	//   mean embedding
	//       1 × Gaussian release, noise multiplier 3.73063
	//       taken: 1; noise: exact
	// Not covered
	//   - inputs declared public: schema, bounds, levels, vocabulary, nominal sizes, sampling rates, numbers of steps, initial and pre-trained values
	//   - choices of hyper-parameters, models or seeds that were made by looking at results on these records outside this ledger
	//   - quality reports that compare with the real records
	//   - running time, memory use and other side channels
	//   - anything computed from these records outside this ledger
}

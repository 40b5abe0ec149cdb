// Package privgen trains generative models under differential privacy and
// releases generators of synthetic records.
//
// A chain of calls states the model and its privacy. Plan does all the arithmetic before any record
// is read. Fit spends the budget. The Generator holds released state only, so sampling, saving and
// sharing it cost no more privacy:
//
//	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
//	plan, err := privgen.DPGM(records.BinaryImage(28, 28), budget).
//		Features(rff.RBF{Dim: 200, Bandwidth: 8}).
//		Cluster(kmeans.Config{K: 10, Iterations: 8, Share: 0.2}).
//		Model(models.PaperVAE()).
//		Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.01, Steps: 3000,
//			Optimizer: sgd.Adam(1e-3)}).
//		Plan()
//	fmt.Println(plan)               // the bill
//	gen, err := plan.Fit(ctx, data) // the only call that sees records
//	rows, err := gen.Sample(ctx, 60000)
//	fmt.Println(gen.Guarantee())
//
// # The packages
//
// Each package can be used alone. The list goes from the top down, and imports point down only:
//
//	compose              systems made of systems: ranks, pools, labels, changes, searches
//	dpgm merf mix gan    the systems: config → plan → fit → generator
//	synth                what all systems share: plan, run, checkpoint, generator, file
//	baselines            simple systems for comparison; AIM and MST for tables
//	kmeans sgd draft     private algorithms: they read records, add noise, write the ledger
//	models  rff          pure functions on matrices
//	mechanism            noise, clipping, noisy sums: the only source of private randomness
//	accountant           events, ledger, calibration: arithmetic only
//	records              public schema, encoded rows, readers and writers
//	device               memory and arithmetic of matrices
//	privacytest          for tests: checks whether privacy claims are true
//	evaluate             quality of synthetic records; its results are marked as not private
//
// # The systems
//
// [DPGM] clusters records privately and trains one network per cluster (Acs et al. 2017/2019).
// [MERF] releases mean features once and can train any number of generators against them (Harder et
// al. 2021). [GAN] trains a critic privately and a generator against it (Zhang et al. 2018). [Mix]
// publishes noisy mixtures of records (Lee et al. 2019). The documentation of each package lists
// and explains the differences from its paper.
//
// # Which system, and with what
//
// Every system derives defaults from the schema, the budget and one public number: the approximate
// number of records. The plan prints the chosen settings with their reasons, and the expected time
// and memory:
//
//	gen, err := privgen.GAN(schema, budget).Nominal(30_000).Fit(ctx, data)
//
// [Recommend] returns the plans of all suitable systems, best first:
//
//	tables of two classes    AIM, a graphical model; MERF; GAN
//	tables of more classes   MERF; AIM; GAN
//	tables without a class   AIM; MERF; GAN; DPGM
//	tables of many rows      with a class and numbers: MERF on compose.Ranks instead of MERF
//	sets of items            DPGM, which releases marginals first; Independent; Tree; MWEM
//	images with a class      MERF; Mix (for classifiers, not for viewing); GAN if ε is 10 or more
//	images without one       DPGM; MERF; GAN
//	vectors with a class     MERF; GAN; Mix
//	vectors without one      MERF; DPGM; GAN
//
// Suppose that one Gaussian release costs the whole budget, and let σ₁ be its noise (3.7 at ε = 1,
// δ = 1e-5). The means of m columns in each of k classes then have an error of σ₁·k·√m/n at best.
// For 2,000 records of 600 columns in 26 classes, this error is above a quarter of a column's
// range. In such a case no system learns anything, and Recommend returns [ErrNoise] before the
// budget is spent.
//
// # What is promised
//
// A [accountant.Guarantee] states ε, δ, the neighbouring relation, and every private release with
// its purpose and the class of its noise. It also lists the effects that it does not cover. Every ε
// is the upper end of a computed interval. A configuration without a known sound analysis is
// refused.
//
// The default relation is add-or-remove-one: if one person's record is added or removed, the
// probabilities of a fit's results change little. Replace-one at the same ε is a stronger promise,
// so comparisons should name the relation.
package privgen

// Package tune searches for hyper-parameters at a price that is known beforehand: it runs a random
// number of plans, compares them by noisy scores, and releases the best.
//
//	search, err := tune.Config{Budget: budget, Candidates: plans, Trials: tune.Trials{Mean: 20},
//		Score: tune.Accuracy{}, Noise: 50}.Plan()
//	fmt.Println(search)                 // its price, and the prices of more or fewer trials
//	gen, err := search.Fit(ctx, table)  // the best of the trials
//
// A search is a plan like any other, of the system "tune". Its only stage is one event, reserved
// before the number of trials is drawn. A trial draws one of the candidates at random and runs it
// on its own ledger. This ledger permits only the candidate's stages and the score. The trial then
// scores the generator on the same records.
//
// Guarantee: the released generator has the price of accountant.RepeatAndSelect among runs of
// accountant.OneOf the candidates, each with its score. This is about two to three times the
// divergence of a single trial, instead of the sum over all trials. The guarantee of the
// generator's own plan would not hold: the best of many runs reveals more about the records than
// one run.
//
// The price depends on these conditions:
//
//   - The number of trials and their candidates are drawn exactly, from the stream of private
//     randomness. Neither is revealed: not by progress, which reports only the end of the search,
//     nor by the ledger, the guarantee or errors.
//   - Trials are independent given the records and have the same distribution: candidates are
//     plans, which keep nothing between runs. User-defined plans must keep nothing either.
//   - Only the best trial is released: its generator, its noisy score and the index of its
//     candidate. The generators and scores of all other trials are dropped.
//   - A trial that fails or panics ranks below every score. A failure is one of a trial's outcomes
//     and costs no more than other outcomes: errors of a plan depend on records only through
//     released values, and the price of a selection holds for every order of the outcomes. If every
//     trial fails, the best outcome is a failure, and it is released: the error of the first trial,
//     without the value of a panic.
//   - A search that is cancelled, or whose data fail, releases nothing and gets no refund. Only its
//     running time shows how many trials it had run. Cancelling limits the number of trials by the
//     clock, and the accountant's price covers limits.
//   - Running time grows with the secret number of trials, and no guarantee covers it. With
//     Trials.Steady every search runs as many trials as its limit, and drops the trials beyond the
//     number drawn.
//   - A search writes no checkpoint while it runs: the file would hold the best trial so far, which
//     is not paid for. With synth.Checkpoint, a search that was killed is lost and returns
//     synth.ErrLost when it is run again; a complete search is read from the file.
//
// A system that releases once and trains without cost needs no search. Its generators can be
// compared by their distance to the release.
//
// Source: Papernot and Steinke, "Hyperparameter Tuning with Renyi Differential Privacy", 2022;
// Liu and Talwar, "Private Selection from Private Candidates", 2019.
package tune

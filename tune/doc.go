// Package tune searches for hyper-parameters at a price that is known beforehand: it runs a random
// number of plans, compares them by noisy scores, and releases the best.
//
//	search, err := tune.Config{Budget: budget, Candidates: plans, Trials: tune.Trials{Mean: 20},
//		Score: tune.Accuracy{}, Noise: 50}.Plan()
//	fmt.Println(search)                 // what that costs, and what more or fewer trials would
//	gen, err := search.Fit(ctx, table)  // the best of the trials
//
// A search is a plan like any other, of the system "tune": its stage is one event, reserved before
// the number of trials is drawn. A trial draws one of the candidates at random, runs it on its own
// ledger, which permits only the candidate's stages and the score, and scores the generator on the
// same records.
//
// Guarantee: the released generator has the price of accountant.RepeatAndSelect among runs of
// accountant.OneOf the candidates, each with its score: about twice to three times the divergence
// of a single trial, instead of the sum over all. The guarantee of its own plan would not
// hold: the best of many runs reveals more about the records than one run.
//
// The price depends on these conditions:
//
//   - The number of trials and their candidates are drawn exactly, from the stream that protects.
//     Neither is told: not by progress, which reports the end of the search alone, not by the
//     ledger, not by the guarantee, not by errors.
//   - Trials are independent given the records, and of one law: candidates are plans, which keep
//     nothing between runs. A user-defined plan has to be so, too.
//   - Nothing leaves but the best trial: its generator, its noisy score and which candidate it was.
//     Generators and scores of all others are forgotten as soon as a better one is there.
//   - A trial that fails or panics ranks below every score. A trial's failure is one of its
//     outcomes, which costs no more than others do, since no error of a plan depends on a record
//     but through what was released; and the price of a selection holds for every order of the
//     outcomes. Only where every trial fails does a failure leave, as the best there was: the
//     first one's error, without what it panicked with.
//   - A search that is cancelled, or whose data fail, releases nothing and gets no refund. How far
//     it had come is seen in its running time only. A cancelled search is one whose number of
//     trials was limited by the clock: what the accountant says of limits covers it.
//   - Running time grows with the secret number of trials, and is no part of any guarantee.
//     Trials.Steady has every search carry out as many trials as its limit says, and drop those
//     that were not drawn.
//   - A search has no checkpoint within: its file would hold the best of the trials so far, which
//     is not paid for. With synth.Checkpoint a search that was killed is lost, and ends with
//     synth.ErrLost when it is asked for again; one that is complete is read from the file.
//
// A system that releases once and trains without cost needs no search: see merf.TrainBest,
// which compares any number of generators by their distance to one release.
//
// Source: Papernot and Steinke, "Hyperparameter Tuning with Renyi Differential Privacy", 2022;
// Liu and Talwar, "Private Selection from Private Candidates", 2019.
package tune

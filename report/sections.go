package report

// Quality holds scores of columns and of pairs, with the names and definitions of SDMetrics; 1
// means identical.
type Quality struct {
	Synthetic QualityScores `json:"synthetic"`
	// HeldOut holds the scores of held-out real records against the other real ones, which are the
	// best possible values; nil without held-out records.
	HeldOut *QualityScores `json:"held_out,omitempty"`
	Rows    int            `json:"rows"` // number of real records that the scores are computed on
}

// QualityScores are the scores of one set of records against the real ones.
type QualityScores struct {
	Shapes []Shape `json:"shapes"`
	Pairs  []Pair  `json:"pairs"`
	// ColumnShapes is the mean of Shapes.
	ColumnShapes Number `json:"column_shapes"`
	// ColumnPairTrends is the mean of the pairs that are related in the real records; null if there
	// are none. Pairs are related by SDMetrics' thresholds: a correlation above 0.5, a Cramér's V
	// above 0.3.
	ColumnPairTrends Number `json:"column_pair_trends"`
	// AllPairs is the mean of all pairs. In most tables, most pairs are unrelated.
	AllPairs Number `json:"all_pairs"`
	// Score is the mean of ColumnShapes and ColumnPairTrends. If only one is defined, Score equals
	// it.
	Score Number `json:"score"`
}

// Shape is the similarity of one column's distributions.
type Shape struct {
	Column string `json:"column"`
	Metric string `json:"metric"` // KSComplement or TVComplement
	Score  Number `json:"score"`  // null if the metric is not defined
}

// Pair is the similarity of the dependence of two columns.
type Pair struct {
	Columns [2]string `json:"columns"`
	Metric  string    `json:"metric"` // CorrelationSimilarity or ContingencySimilarity
	Score   Number    `json:"score"`
	// Real and Synthetic are the correlations, null for a contingency table.
	Real      Number `json:"real"`
	Synthetic Number `json:"synthetic"`
	// Association is Cramér's V of the real records, null for correlations.
	Association Number `json:"association"`
	Counts      bool   `json:"counts"` // whether the pair counts in ColumnPairTrends
}

// ThreeWay compares tables of three columns, with numbers in bins between their public bounds.
type ThreeWay struct {
	Bins   int     `json:"bins"`
	Groups []Group `json:"groups"` // worst first
	Mean   Beside  `json:"mean_total_variation"`
}

// Group is the total variation distance of the joint levels of three columns, where 0 means
// identical and 1 disjoint.
type Group struct {
	Columns []string `json:"columns"`
	Beside
}

// Sets compares sizes and frequencies of sets of items.
type Sets struct {
	Sizes []Bar `json:"sizes"`
	// Items are the most frequent real items.
	Items []Bar `json:"items"`
	// ItemError is the mean absolute difference of the frequencies of all items. PairError is the
	// same for pairs of popular items. SizeError is the total variation distance of the sizes.
	// TopShared is the fraction of the most frequent real combinations that are also among the most
	// frequent synthetic ones.
	ItemError     Beside `json:"item_error"`
	PairError     Beside `json:"pair_error"`
	SizeError     Beside `json:"size_error"`
	TopShared     Beside `json:"top_shared"`
	MeanReal      Number `json:"mean_size"`
	MeanSynthetic Number `json:"mean_size_synthetic"`
}

// Images holds grids of images as PNG files.
type Images struct {
	Height int `json:"height"`
	Width  int `json:"width"`
	// Real and Synthetic hold Rows × Columns images each, with a row for each class if there are
	// classes.
	Rows      int    `json:"rows"`
	Columns   int    `json:"columns"`
	Real      []byte `json:"real,omitempty"`
	Synthetic []byte `json:"synthetic"`
	// MeanReal and MeanSynthetic are the mean images, one for each class if there are classes.
	MeanReal      []byte `json:"mean_real,omitempty"`
	MeanSynthetic []byte `json:"mean_synthetic"`
}

// Classifiers holds the scores of classifiers on held-out real records.
type Classifiers struct {
	Tested  int             `json:"tested"`
	Trained int             `json:"trained"`
	Rows    []ClassifierRow `json:"methods"`
	// Majority always predicts the most frequent class. Independent is the first method, trained on
	// shuffled real records. Each column and the class are shuffled separately.
	Majority    Scores `json:"majority"`
	Independent Scores `json:"independent"`
}

// ClassifierRow is one method trained on real and on synthetic records.
type ClassifierRow struct {
	Method    string `json:"method"`
	Synthetic Scores `json:"synthetic"`
	Real      Scores `json:"real"`
}

// Scores are measures of one classifier.
type Scores struct {
	Accuracy Number `json:"accuracy"`
	MacroF1  Number `json:"macro_f1"`
	ROC      Number `json:"roc_auc"` // by scores; the mean of each class against the rest
}

// Ceiling is the similarity of two independent releases of the same records. Scores above it do not
// mean that a generator is better.
type Ceiling struct {
	// Sampling is the mean TVComplement of two draws from one generator. It has only the loss from
	// drawing. Null without a generator.
	Sampling Number `json:"sampling"`
	// Noise is the expected mean TVComplement of two releases of all columns' histograms, each one
	// Gaussian release that spends the whole budget. It is computed from the distribution of the noise
	// and the number of real records.
	Noise    Number `json:"noise"`
	NoiseStd Number `json:"noise_std"` // of the noise on each count, in records
	// Second is the mean TVComplement of the synthetic records and the records of a second release.
	Second  Number `json:"second"`
	Columns int    `json:"columns"`
	Bins    int    `json:"bins"`
	Records int    `json:"records"` // number of records in each draw
}

// Propensity measures how well synthetic records can be distinguished from real ones.
type Propensity struct {
	// PMSE is the mean of (p − ½)². Here p is the probability of being synthetic, by a logistic
	// regression on equally many records of both kinds (Snoke et al. 2018). PMSE is 0 if the kinds
	// cannot be distinguished, and ¼ if they always can.
	PMSE Beside `json:"pmse"`
	// AUC is the area under the ROC curve of a random forest. It is trained on one half of the
	// records and tested on the other half. Guessing at random has ½.
	AUC     Beside `json:"roc_auc"`
	Curve   Curve  `json:"roc"` // of synthetic records
	HeldOut *Curve `json:"roc_held_out,omitempty"`
	Records int    `json:"records"` // of each kind
}

// Curve holds the points of a curve over false positive rates from 0 to 1.
type Curve struct {
	FalsePositive []Number `json:"false_positive"`
	TruePositive  []Number `json:"true_positive"`
}

// Queries compares the answers to random counting queries. A query asks how many records have given
// levels or ranges in one to three columns. For sets it asks how many have at least one of some
// items.
type Queries struct {
	Count int `json:"count"`
	// Mean, Median, High and Max summarise the absolute differences of the answers, as fractions of
	// all records; High is the 95th percentile.
	Mean   Beside `json:"mean"`
	Median Beside `json:"median"`
	High   Beside `json:"percentile_95"`
	Max    Beside `json:"max"`
}

// Risk measures what an attacker can learn from the synthetic records.
type Risk struct {
	Attacks []Attack `json:"attacks"`
	// Bound is the highest curve that the guarantee allows for neighbouring data sets.
	// SplitBound is the highest curve if one record is replaced by another. It applies to a
	// comparison of equally many members and others.
	Bound      Curve  `json:"bound"`
	SplitBound Curve  `json:"split_bound"`
	Epsilon    Number `json:"epsilon"`
	Delta      Number `json:"delta"`

	// Closest compares the distances of synthetic records to the closest member with the distances
	// to the closest of equally many held-out real records. Members are the real records that the
	// generator was trained on.
	Closest *Closest `json:"closest,omitempty"`
	// Exact counts the synthetic records that equal a real record in every column, and the checked
	// records. ExactHeldOut is the same for held-out real records instead of synthetic ones.
	Exact        Matches  `json:"exact"`
	ExactHeldOut *Matches `json:"exact_held_out,omitempty"`
}

// Matches counts the records of one kind that are among the records of another.
type Matches struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// Attack is an attack that guesses membership from the synthetic records alone.
type Attack struct {
	Name     string `json:"name"`
	Members  int    `json:"members"`
	Others   int    `json:"others"`
	AUC      Number `json:"roc_auc"`
	Curve    Curve  `json:"roc"`
	AtLow    Number `json:"true_positive_at_1_percent"`
	Accuracy Number `json:"best_accuracy"` // accuracy at the best threshold; guessing at random has ½
}

// Closest compares distances to members with distances to others. Distances are the mean over
// columns of |a − b| on the scale of the schema, 0 or 1 for levels.
type Closest struct {
	Members Quantiles `json:"members"`
	Others  Quantiles `json:"others"`
	// CloserToMembers is the fraction of synthetic records that are closer to a member than to any of
	// the others, with ties counted half. It is about one half if nothing was copied.
	CloserToMembers Number `json:"closer_to_members"`
	Records         int    `json:"records"`
}

// Quantiles holds quantiles of distances.
type Quantiles struct {
	Least  Number `json:"least"`
	Low    Number `json:"percentile_5"`
	Median Number `json:"median"`
	High   Number `json:"percentile_95"`
}

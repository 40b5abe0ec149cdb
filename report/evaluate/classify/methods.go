package classify

import "github.com/seed7ba64551/privgen/records"

// Methods returns the usual classifiers for evaluating labelled records. They are logistic
// regression, two kinds of naive Bayes, a linear support vector machine, a decision tree, linear
// discriminants, AdaBoost, bagging, a random forest, gradient boosting, a multilayer perceptron
// and, for images, a convolutional network.
//
// Source: Harder, Adamczewski and Park 2021, "DP-MERF", section 5, without XGBoost. Settings are
// the defaults of this package; for images, ensembles and samples are smaller, as in that paper's
// code.
func Methods(s records.Schema, seed uint64) []Method {
	methods := []Method{
		LogisticRegression{}, GaussianBayes{}, BernoulliBayes{}, SupportVectors{}, DecisionTree{},
		DiscriminantAnalysis{},
		AdaBoost{}, Bagging{Seed: seed}, RandomForest{Seed: seed}, GradientBoosting{Seed: seed},
		NeuralNetwork{Hidden: []int{100}, Seed: seed},
	}
	if !s.IsImage() {
		return methods
	}
	methods[5] = DiscriminantAnalysis{Shrinkage: 0.5}
	methods[7] = Bagging{Trees: 20, Part: 0.1, Seed: seed}
	methods[9] = GradientBoosting{Stages: 50, Part: 0.1, Seed: seed}
	return append(methods, Convolutional{Training: NeuralNetwork{Seed: seed}})
}

package classify

import (
	core "github.com/seed7ba64551/privgen/internal/classify"
	"github.com/seed7ba64551/privgen/records"
)

// Method trains a classifier. It is a method of this package, or a user-defined method that calls
// [NewClassifier].
type Method = core.Method

// Classifier predicts the classes of records. It is safe for concurrent use. It prints as its name,
// since it may have learnt from real records.
type Classifier = core.Classifier

// Scorer scores records. It is the trained part of a classifier.
type Scorer = core.Scorer

// Prober is a [Scorer] that also returns probabilities.
type Prober = core.Prober

// LogisticRegression trains multinomial logistic regression to the minimum of ½‖w‖² + C Σ losses,
// without the biases in the norm. A [NeuralNetwork] without hidden layers has no penalty and takes
// a given number of steps instead.
type LogisticRegression = core.LogisticRegression

// NeuralNetwork trains a network by stochastic gradient descent. The zero value is multinomial
// logistic regression; Hidden makes it a multilayer perceptron.
type NeuralNetwork = core.NeuralNetwork

// Convolutional trains a convolutional network on images. The zero value has two strided
// convolutions and one dense hidden layer.
type Convolutional = core.Convolutional

// NewClassifier returns a classifier for records of a schema with a user-defined scorer.
func NewClassifier(name string, s records.Schema, by Scorer) *Classifier {
	return core.NewClassifier(name, s, by)
}

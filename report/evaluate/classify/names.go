package classify

import (
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Method trains a classifier. It is a method of this package, or a user-defined method that calls
// [NewClassifier].
type Method = judge.Method

// Classifier predicts the classes of records. It is safe for concurrent use. It prints as its name,
// since it may have learnt from real records.
type Classifier = judge.Classifier

// Scorer scores records. It is the trained part of a classifier.
type Scorer = judge.Scorer

// Prober is a [Scorer] that also returns probabilities.
type Prober = judge.Prober

// LogisticRegression trains multinomial logistic regression to the minimum of ½‖w‖² + C Σ losses,
// without the biases in the norm. A [NeuralNetwork] without hidden layers has no penalty and takes
// a given number of steps instead.
type LogisticRegression = judge.LogisticRegression

// NeuralNetwork trains a network by stochastic gradient descent. The zero value is multinomial
// logistic regression; Hidden makes it a multilayer perceptron.
type NeuralNetwork = judge.NeuralNetwork

// Convolutional trains a convolutional network on images. The zero value has two strided
// convolutions and one dense hidden layer.
type Convolutional = judge.Convolutional

// NewClassifier returns a classifier for records of a schema with a user-defined scorer.
func NewClassifier(name string, s records.Schema, by Scorer) *Classifier {
	return judge.NewClassifier(name, s, by)
}

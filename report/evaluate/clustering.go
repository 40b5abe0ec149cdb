package evaluate

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Clustering measures how well clusters agree with classes that were not used to find
// them.
type Clustering struct {
	Records int     `json:"records"`
	Correct int     `json:"correct"` // number of records whose cluster is matched to their class
	Match   []int   `json:"match"`   // class matched to each cluster; -1 for none
	Counts  [][]int `json:"counts"`  // records of each cluster by class
}

// ClusteringAccuracy measures k clusters against classes. It matches clusters to classes one to
// one, with the largest possible number of records in the cluster of their class. Clusters and
// classes may differ in number; unmatched records count as wrong.
//
// Shapes: assignments, in [0, k), and labels, from 0, have one entry for each record.
// Errors: *[param.Error] for entries outside their range, naming the record.
// Guarantee: none; see the package.
func ClusteringAccuracy(assignments, labels []int32, k int) (Clustering, error) {
	if k < 1 {
		return Clustering{}, param.New("evaluate.ClusteringAccuracy k", k, "at least one cluster")
	}
	if len(assignments) != len(labels) {
		return Clustering{},
			param.New("evaluate.ClusteringAccuracy labels", "more or fewer than assignments",
				"one label for each assignment")
	}
	counts, err := tabulate(assignments, labels, k)
	if err != nil {
		return Clustering{}, err
	}
	cost := make([][]float64, k)
	for c, row := range counts {
		cost[c] = make([]float64, len(row))
		for l, n := range row {
			cost[c][l] = -float64(n)
		}
	}
	match, total, err := assign(cost)
	if err != nil {
		return Clustering{}, err
	}
	return Clustering{Records: len(labels), Correct: int(-total), Match: match, Counts: counts}, nil
}

// tabulate counts records by cluster and class.
func tabulate(assignments, labels []int32, k int) ([][]int, error) {
	classes := int32(0)
	for i, l := range labels {
		if l < 0 || l >= 1<<20 {
			return nil, param.New(fmt.Sprintf("evaluate.ClusteringAccuracy labels[%d]", i), "no class",
				"a class number from 0 to 2^20 - 1")
		}
		classes = max(classes, l+1)
	}
	counts := make([][]int, k)
	for c := range counts {
		counts[c] = make([]int, classes)
	}
	for i, c := range assignments {
		if c < 0 || int(c) >= k {
			return nil, param.New(fmt.Sprintf("evaluate.ClusteringAccuracy assignments[%d]", i),
				"no cluster", fmt.Sprintf("a cluster in [0, %d)", k))
		}
		counts[c][labels[i]]++
	}
	return counts, nil
}

// Accuracy returns the fraction of the records whose cluster is matched to their class.
func (c Clustering) Accuracy() float64 { return compare.Share(c.Correct, c.Records) }

// Purity returns the fraction of the records that belong to the most frequent class of their
// cluster. Unlike accuracy, it lets several clusters share a class.
func (c Clustering) Purity() float64 {
	most := 0
	for _, row := range c.Counts {
		most += top(row)
	}
	return compare.Share(most, c.Records)
}

func top(counts []int) int {
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}

// String prints the accuracy, marked as not private.
func (c Clustering) String() string {
	return fmt.Sprintf("%sclustering accuracy %.4f, purity %.4f over %d records (%s)", judge.Mark,
		c.Accuracy(), c.Purity(), c.Records, judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (c Clustering) MarshalJSON() ([]byte, error) {
	type plain Clustering
	return compare.JSON("clustering accuracy", struct {
		Accuracy float64 `json:"accuracy"`
		Purity   float64 `json:"purity"`
		plain
	}{c.Accuracy(), c.Purity(), plain(c)})
}

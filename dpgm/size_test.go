package dpgm_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// TestNetworksThatNoMemoryHolds checks that networks too large for memory are refused before one is
// built, in a configuration and in the file of a plan.
func TestNetworksThatNoMemoryHolds(t *testing.T) {
	c := small(records.Binary(6), accountant.AddOrRemoveOne)
	for name, change := range map[string]func(*dpgm.Config){
		"wide": func(c *dpgm.Config) {
			c.Model = models.VAE{Hidden: []int{1 << 24, 1 << 24}, Latent: 2}
		},
		"slow": func(c *dpgm.Config) {
			c.Model = models.RBM{Hidden: 3, Chains: 2, SampleSweeps: 1 << 30}
		},
		"crowded": func(c *dpgm.Config) { c.Model = models.RBM{Hidden: 3, Chains: 1 << 30} },
		"many": func(c *dpgm.Config) {
			c.Model, c.Cluster.K = models.VAE{Hidden: []int{1 << 12}, Latent: 2}, 1<<20
		},
	} {
		huge := c
		change(&huge)
		var wrong *param.Error
		if _, err := huge.Plan(); !errors.As(err, &wrong) ||
			!strings.HasPrefix(wrong.Path, "dpgm.Config.Model") &&
				!strings.HasPrefix(wrong.Path, "models.") {
			t.Errorf("%s: got %v, want *param.Error for the network", name, err)
		}
	}
	text := must(json.Marshal(mustPlan(t, c)))(t)
	hostile := strings.Replace(string(text), `"hidden":[6]`, `"hidden":[16777216,16777216]`, 1)
	if _, err := systems.ReadPlan([]byte(hostile)); err == nil ||
		!strings.Contains(hostile, "16777216") {
		t.Errorf("a plan with huge networks: got %v, want an error", err)
	}
}

// TestTrainingInBandsIsRefused: a plan counts steps, and the ledger would count rounds of them.
func TestTrainingInBandsIsRefused(t *testing.T) {
	c := small(records.Binary(6), accountant.AddOrRemoveOne)
	c.Train.Bands = 2
	var wrong *param.Error
	if _, err := c.Plan(); !errors.As(err, &wrong) || wrong.Path != "sgd.Config.Bands" {
		t.Errorf("got %v, want a mistake in sgd.Config.Bands", err)
	}
}

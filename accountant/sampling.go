package accountant

import "slices"

// sampling says how an event samples records.
type sampling struct {
	samplers []string
	// publicSize reports whether the event's parameters include a number of records, which must then
	// be public.
	publicSize bool
}

// everyRecord is the sampling of an event that uses all records.
func everyRecord() sampling { return sampling{samplers: []string{samplerNone}} }

// samplingOf returns the sampling of a composition of events.
func samplingOf(events ...Event) (s sampling) {
	for _, e := range events {
		if !known(e) {
			continue // such an event has no price
		}
		one := e.sampling()
		s.samplers = append(s.samplers, one.samplers...)
		s.publicSize = s.publicSize || one.publicSize
	}
	return s
}

// sampled returns the sampling of an event that runs events on a sample of the records.
func sampled(sampler string, events ...Event) sampling {
	s := samplingOf(events...)
	s.samplers = append(slices.DeleteFunc(s.samplers, func(name string) bool {
		return name == samplerNone
	}), sampler)
	return s
}

// ofPublicSize says that the parameters include a number of records.
func (s sampling) ofPublicSize() sampling {
	s.publicSize = true
	return s
}

// Samplers describes in words how an event samples records, each way once.
func Samplers(e Event) []string {
	found := samplingOf(e).samplers
	return slices.DeleteFunc([]string{samplerNone, samplerPoisson, samplerCyclic, samplerAllocated,
		samplerShuffled, samplerSubset, samplerTruncated},
		func(name string) bool { return !slices.Contains(found, name) })
}

const (
	samplerNone    = "all records (no sampling)"
	samplerPoisson = "Poisson: each record independently with the stated probability"
	samplerCyclic  = "cyclic Poisson: in one step of each round, which is drawn once, " +
		"each record independently with the stated probability"
	samplerAllocated = "random allocation: each record in uniformly random steps of each epoch, " +
		"as many as stated"
	samplerShuffled  = "shuffled: a random order of the records in each epoch, cut into equal batches"
	samplerSubset    = "without replacement: a fresh uniform subset of public size each time"
	samplerTruncated = "truncated Poisson: independent inclusion, " +
		"then a random cut to a public maximum"
)

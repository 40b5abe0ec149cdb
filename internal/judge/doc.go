// Package judge holds what all judgements of synthetic records share: marks of results that are not
// private, reading of records, work on all cores, and checks of settings.
package judge

// Package mechanism is the only door to randomness that protects.
package mechanism

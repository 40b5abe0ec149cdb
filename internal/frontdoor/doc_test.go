// Package frontdoor_test holds the tests of the chains of package privgen, and of what several
// systems have in common. They use the public API only.
package frontdoor_test

// Package param has what every package needs for public parameters: the error type for mistakes and
// a collector of such mistakes, a strict reader of JSON, names of the values of integer types, and
// lines of text that no file can forge. Every package of the module uses these, so callers handle
// one type of error, and a text is read in one way only.
package param

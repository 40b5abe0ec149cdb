// Package words has what every package needs to print and read text: names of the values of integer
// types, lines of a width, and the heading of a column.
package words

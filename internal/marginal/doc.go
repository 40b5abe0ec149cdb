// Package marginal turns rows of a table into codes, and counts codes and tables of codes.
//
// An [Attribute] maps a column to a few hundred codes, a [Grouping] merges codes by their released
// counts, and a [Histogram] counts the rows in the cells of tables. A [Survey] releases the counts
// of all columns' codes. Everything is a function of the schema and of released numbers, except the
// counts of a Histogram, which are private.
package marginal

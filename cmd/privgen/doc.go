// Command privgen generates synthetic data with differential privacy, without writing Go.
//
//	privgen draft sample.csv --public --label income -o schema.json
//	privgen plan schema.json --epsilon 1 --records 30000 -o plan.json
//	privgen fit plan.json people.csv --ledger people --new-ledger -o people.gen
//	privgen sample people.gen -n 30000 -o synthetic.csv
//	privgen report people.gen people.csv --holdout others.csv -o report.html
//
// Every private release is reserved on a ledger that outlives the process. Output computed from the
// records without noise says that it is not private. docs/command.md is the manual.
package main

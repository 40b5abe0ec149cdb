package ledger

import "github.com/seed7ba64551/privgen/accountant"

func once(e accountant.Event) Transaction {
	return Transaction{Lines: []Line{{Purpose: "a", Event: e, Count: 1}}}
}

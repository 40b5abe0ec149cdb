package gan

import (
	"encoding/json"

	"github.com/seed7ba64551/privgen/internal/artefact"
)

// Contents is everything in a checkpoint but its random token.
func Contents(path string) ([]any, error) {
	c, err := OpenCheckpoint(path)
	if err != nil {
		return nil, err
	}
	c.header.Token = ""
	head, err := json.Marshal(c.header)
	return []any{string(head), append([]artefact.Section(nil), c.file.Sections...)}, err
}

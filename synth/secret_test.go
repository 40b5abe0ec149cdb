package synth_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/seed7ba64551/privgen/synth"
)

// TestSecretsAreNotWritten checks that no verb, log or encoding writes the bytes of a secret.
func TestSecretsAreNotWritten(t *testing.T) {
	pass := synth.Pass{Purpose: "p", Secret: synth.Secret("mallory")}
	var packed, log bytes.Buffer
	if err := gob.NewEncoder(&packed).Encode(pass); err != nil {
		t.Fatal(err)
	}
	text := must(json.Marshal(map[string]any{"pass": pass, "secret": pass.Secret}))(t)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "pass", pass, "secret", pass.Secret)
	for how, written := range map[string]string{"gob": packed.String(), "JSON": string(text),
		"a log": log.String(), "%v": fmt.Sprintf("%v %+v %q", pass, pass, pass.Secret),
		"%x": fmt.Sprintf("%x", pass.Secret), "%s": fmt.Sprintf("%s", pass.Secret)} {
		for _, secret := range []string{"mallory", "6d616c6c6f7279", "bWFsbG9yeQ"} {
			if bytes.Contains([]byte(written), []byte(secret)) {
				t.Errorf("%s holds the secret: %q", how, written)
			}
		}
	}
}

package ledger

import "github.com/seed7ba64551/privgen/accountant"

// decodedEvent is an event with its canonical text.
type decodedEvent struct {
	event accountant.Event
	key   string
}

// eventMemo caches the events of a ledger's lines by their text: a journal repeats a few events
// many times.
type eventMemo struct{ byText map[string]decodedEvent }

// maxMemo bounds the number of cached texts.
const maxMemo = 1 << 14

// decode is like UnmarshalEvent and also returns the event's canonical text.
func (m *eventMemo) decode(text []byte) (decodedEvent, error) {
	if d, ok := m.byText[string(text)]; ok {
		return d, nil
	}
	e, err := accountant.UnmarshalEvent(text)
	if err != nil {
		return decodedEvent{}, err
	}
	key, err := keyOf(e)
	if err != nil {
		return decodedEvent{}, err
	}
	d := decodedEvent{e, key}
	if len(m.byText) < maxMemo {
		if m.byText == nil {
			m.byText = map[string]decodedEvent{}
		}
		m.byText[string(text)] = d
	}
	return d, nil
}

// forget clears the cache.
func (m *eventMemo) forget() { m.byText = nil }

// keyOf returns the canonical text of an event; equal texts are equal events.
func keyOf(e accountant.Event) (string, error) {
	b, err := accountant.MarshalEvent(e)
	return string(b), err
}

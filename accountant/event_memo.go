package accountant

// decodedEvent is an event with its canonical text.
type decodedEvent struct {
	event Event
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
	e, err := UnmarshalEvent(text)
	if err != nil {
		return decodedEvent{}, err
	}
	key, err := eventKey(e)
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

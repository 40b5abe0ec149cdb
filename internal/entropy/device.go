package entropy

// OnDevices reports whether the noise of this machine's sources can be made on a device.
func OnDevices() bool { return expandKey(new([32]byte)) != nil }

// Counter returns the counter block of the stream's next word, as in Ahead, and the round keys.
func (s *Stream) Counter() (schedule *[240]byte, first, number uint64) {
	if s.wide.unread > 0 {
		panic("entropy: a stream for a device was read in part")
	}
	return (*[240]byte)(s.wide.keys), s.wide.first, s.wide.number
}

// Skip advances the stream by a number of buffers.
func (s *Stream) Skip(buffers int) { s.wide.number += uint64(buffers) * Buffer / 2 }

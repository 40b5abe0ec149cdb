//go:build purego || !amd64

package entropy

func expandKey(*[32]byte) *schedule { return nil }

func (*schedule) keystream([]byte, uint64, uint64) { panic("entropy: no vector cipher here") }

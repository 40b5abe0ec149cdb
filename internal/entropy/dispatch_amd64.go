//go:build !purego

package entropy

import has "golang.org/x/sys/cpu"

//go:generate go -C ../../device/internal/asmgen run . -part aes -out ../../../internal/entropy/aes_amd64.s -stubs ../../../internal/entropy/aes_amd64.go -pkg entropy

// vectorCipher reports whether this machine can encrypt four blocks with one instruction.
var vectorCipher = has.X86.HasAES && has.X86.HasAVX && has.X86.HasAVX512F && has.X86.HasAVX512VL &&
	has.X86.HasAVX512DQ && has.X86.HasAVX512BW && has.X86.HasAVX512VAES

// expandKey returns the round keys of a key, or nil if the vector cipher does not run here.
func expandKey(key *[32]byte) *schedule {
	if !vectorCipher {
		return nil
	}
	s := new(schedule)
	expandKeyAES(&key[0], &s[0])
	return s
}

// keystream fills dst with whole groups of keystream. A remainder shorter than a group is left as
// it is.
func (s *schedule) keystream(dst []byte, first, number uint64) {
	if len(dst) >= group {
		keystreamVAES(len(dst)/group, &dst[0], &s[0], first, number)
	}
}

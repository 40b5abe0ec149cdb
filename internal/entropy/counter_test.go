package entropy

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

// TestVectorCipherIsAES compares the vector cipher with crypto/aes for random keys and counter
// blocks. The keystream is read in pieces of random length, so every remainder of a group of blocks
// occurs.
func TestVectorCipherIsAES(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		var key [32]byte
		var iv [aes.BlockSize]byte
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		counterBlock(&iv, Purpose(rng.Uint32()), rng.Uint64N(maxID+1), rng.Uint32())
		keys := expandKey(&key)
		if keys == nil {
			t.Skip("no vector cipher on this machine")
		}
		block, err := aes.NewCipher(key[:])
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]byte, 20000), make([]byte, 20000)
		cipher.NewCTR(block, iv[:]).XORKeyStream(want, want)
		c := newCounter(keys, &iv)
		for rest := got; len(rest) > 0; {
			n := min(rng.IntN([]int{3, 17, 200, 3000}[rng.IntN(4)]), len(rest))
			c.fill(rest[:n])
			rest = rest[n:]
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("key %x, counter block %x: the keystream is not that of crypto/aes", key, iv)
		}
	}
}

// TestVectorScheduleOfStandard checks the key expansion with the example of FIPS 197, appendix A.3.
func TestVectorScheduleOfStandard(t *testing.T) {
	var key [32]byte
	mustHex(t, key[:], "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
	keys := expandKey(&key)
	if keys == nil {
		t.Skip("no vector cipher on this machine")
	}
	var want [32]byte
	mustHex(t, want[:16], "9ba354118e6925afa51a8b5f2067fcde") // w8 to w11; w12 to w15 follow
	mustHex(t, want[16:], "a8b09c1a93d194cdbe49846eb75d5b9a")
	if !bytes.Equal(keys[32:64], want[:]) {
		t.Errorf("round keys 2 and 3 are %x, want %x", keys[32:64], want)
	}
	var last [16]byte
	mustHex(t, last[:], "fe4890d1e6188d0b046df344706c631e")
	if !bytes.Equal(keys[14*16:], last[:]) {
		t.Errorf("the last round key is %x, want %x", keys[14*16:], last)
	}
}

func mustHex(t *testing.T, dst []byte, text string) {
	t.Helper()
	if n, err := hex.Decode(dst, []byte(text)); err != nil || n != len(dst) {
		t.Fatalf("%q: %d bytes, %v", text, n, err)
	}
}

// TestStreamsAreTheSameEverywhere: a seed gives the same bits with and without the vector cipher.
func TestStreamsAreTheSameEverywhere(t *testing.T) {
	vector, err := Seeded(9)
	if err != nil {
		t.Fatal(err)
	}
	if vector.keys == nil {
		t.Skip("no vector cipher on this machine")
	}
	plain := &Source{block: vector.block}
	for chunk := range uint32(3) {
		a, b := vector.Stream(Chunked, 5, chunk<<16-1), plain.Stream(Chunked, 5, chunk<<16-1)
		x, y := make([]uint64, 3*Buffer+5), make([]uint64, 3*Buffer+5)
		for range 4 {
			a.FillWords(x)
			b.FillWords(y)
			for i := range x {
				if x[i] != y[i] || a.Uint64() != b.Uint64() {
					t.Fatalf("chunk %d: streams differ", chunk)
				}
			}
		}
	}
}

// TestWordsAheadAreTheNextWords: Ahead and Finish make the words that the stream would return next,
// for any number of words made ahead. A call of Ahead without Finish changes nothing.
func TestWordsAheadAreTheNextWords(t *testing.T) {
	source, err := Seeded(10)
	if err != nil {
		t.Fatal(err)
	}
	if source.keys == nil {
		t.Skip("no vector cipher on this machine")
	}
	a, b := source.Stream(Chunked, 1, 2), source.Stream(Chunked, 1, 2)
	got, want := make([]uint64, 64), make([]uint64, 64)
	for made := 0; made <= 64; made += 8 {
		b.FillWords(want)
		dropped := a.Ahead(got)
		dropped.Made = 8
		ahead := a.Ahead(got)
		source.keys.keystream(bytesOf(got[:made]), ahead.First, ahead.Number)
		ahead.Made = made
		a.Finish(&ahead)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%d words ahead: word %d is %x, want %x", made, i, got[i], want[i])
			}
		}
	}
	a.Fill(make([]byte, 3))
	if x := a.Ahead(got); x.Words != nil {
		t.Error("Ahead makes words in the middle of a block")
	}
	if x := b.Ahead(got[:7]); x.Words != nil {
		t.Error("Ahead makes seven words")
	}
	defer func() {
		if recover() == nil {
			t.Error("Finish accepted words made ahead of a stream that has advanced since")
		}
	}()
	ahead := b.Ahead(got)
	b.FillWords(want)
	b.Finish(&ahead)
}

// TestCounterBlocksHaveTheirFields: every bit of a purpose, an id and a chunk has a place of its
// own, or sub-streams would have the same words.
func TestCounterBlocksHaveTheirFields(t *testing.T) {
	var b [aes.BlockSize]byte
	counterBlock(&b, 0xa1, 0xb1b2b3b4b5, 0xc1c2c3c4)
	want := [aes.BlockSize]byte{0xa1, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xc1, 0xc2, 0xc3, 0xc4}
	if b != want {
		t.Errorf("got %x, want %x", b, want)
	}
}

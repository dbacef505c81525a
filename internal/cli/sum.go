package cli

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// sumOf returns the SHA-256 of what r holds (FIPS 180-4). The standard library's
// is not used: linked into the runtime, its packages begin before every hook, which
// touches nine more pages of memory (docs/architecture.md, Start-up). It is
// compared with the library's in the tests, and no hook uses it.
func sumOf(r io.Reader) ([32]byte, error) {
	h := [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
	buf := make([]byte, 64<<10)
	var size uint64
	for {
		n, err := io.ReadFull(r, buf)
		size += uint64(n)
		whole := n &^ 63
		for i := 0; i < whole; i += 64 {
			block256(&h, buf[i:i+64])
		}
		switch err {
		case nil:
			continue
		case io.EOF, io.ErrUnexpectedEOF:
		default:
			return [32]byte{}, err
		}
		// The end: a single bit, zeros, and the length in bits.
		end := append(append([]byte{}, buf[whole:n]...), 0x80)
		for len(end)%64 != 56 {
			end = append(end, 0)
		}
		end = binary.BigEndian.AppendUint64(end, size*8)
		for i := 0; i < len(end); i += 64 {
			block256(&h, end[i:i+64])
		}
		var sum [32]byte
		for i, v := range h {
			binary.BigEndian.PutUint32(sum[4*i:], v)
		}
		return sum, nil
	}
}

func block256(h *[8]uint32, block []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	for i := 16; i < 64; i++ {
		a, b := w[i-15], w[i-2]
		s0 := bits.RotateLeft32(a, -7) ^ bits.RotateLeft32(a, -18) ^ a>>3
		s1 := bits.RotateLeft32(b, -17) ^ bits.RotateLeft32(b, -19) ^ b>>10
		w[i] = w[i-16] + s0 + w[i-7] + s1
	}
	v := *h
	for i := range 64 {
		s1 := bits.RotateLeft32(v[4], -6) ^ bits.RotateLeft32(v[4], -11) ^ bits.RotateLeft32(v[4], -25)
		t1 := v[7] + s1 + (v[4]&v[5] ^ ^v[4]&v[6]) + k256[i] + w[i]
		s0 := bits.RotateLeft32(v[0], -2) ^ bits.RotateLeft32(v[0], -13) ^ bits.RotateLeft32(v[0], -22)
		t2 := s0 + (v[0]&v[1] ^ v[0]&v[2] ^ v[1]&v[2])
		copy(v[1:], v[:7])
		v[4] += t1
		v[0] = t1 + t2
	}
	for i := range h {
		h[i] += v[i]
	}
}

// k256 are the first 32 bits of the fractional parts of the cube roots of the
// first 64 primes.
var k256 = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

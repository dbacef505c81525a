package queue

import "math/bits"

// sha1Sum returns the SHA-1 of a short text. Task ids are made of it because the
// original's are; nothing relies on it being hard to forge. The library's would be
// initialized before every hook (docs/architecture.md, Start-up).
func sha1Sum(text []byte) [20]byte {
	h := [5]uint32{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0}
	padded := append(append([]byte(nil), text...), 0x80)
	for len(padded)%64 != 56 {
		padded = append(padded, 0)
	}
	for shift := 56; shift >= 0; shift -= 8 {
		padded = append(padded, byte(uint64(len(text))*8>>shift))
	}
	for ; len(padded) > 0; padded = padded[64:] {
		sha1Block(&h, padded[:64])
	}
	var sum [20]byte
	for i := range sum {
		sum[i] = byte(h[i/4] >> (24 - 8*(i%4)))
	}
	return sum
}

func sha1Block(h *[5]uint32, block []byte) {
	var w [80]uint32
	for i, b := range block {
		w[i/4] = w[i/4]<<8 | uint32(b)
	}
	for i := 16; i < 80; i++ {
		w[i] = bits.RotateLeft32(w[i-3]^w[i-8]^w[i-14]^w[i-16], 1)
	}
	a, b, c, d, e := h[0], h[1], h[2], h[3], h[4]
	for i, v := range w {
		var f, k uint32
		switch {
		case i < 20:
			f, k = b&c|^b&d, 0x5A827999
		case i < 40:
			f, k = b^c^d, 0x6ED9EBA1
		case i < 60:
			f, k = b&c|b&d|c&d, 0x8F1BBCDC
		default:
			f, k = b^c^d, 0xCA62C1D6
		}
		a, b, c, d, e = bits.RotateLeft32(a, 5)+f+e+k+v, a, bits.RotateLeft32(b, 30), c, d
	}
	h[0], h[1], h[2], h[3], h[4] = h[0]+a, h[1]+b, h[2]+c, h[3]+d, h[4]+e
}

package usage

import (
	"encoding/binary"
	"math/bits"
)

// sum returns a hash of data and seed that is the same in every process: for the
// ids that replies are told apart by, and to see whether a file is whole. Nobody
// gains from a collision, so it need not withstand one who looks for it.
func sum(data []byte, seed uint64) uint64 {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	h := mix(seed^k0, uint64(len(data))^k1)
	for len(data) >= 16 {
		h = mix(binary.LittleEndian.Uint64(data)^k1, binary.LittleEndian.Uint64(data[8:])^h)
		data = data[16:]
	}
	var rest [16]byte
	copy(rest[:], data)
	return mix(mix(binary.LittleEndian.Uint64(rest[:])^k1, binary.LittleEndian.Uint64(rest[8:])^h)^k0, k1)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

package state

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// Text returns a text that a person or their shell wrote, in UTF-8: Notepad puts a
// mark at its beginning, and what PowerShell redirects is UTF-16 with another. Data
// without a mark is returned as it is, and half a character at the end is dropped.
func Text(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for data = data[2:]; len(data) > 1; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return []byte(string(utf16.Decode(units)))
}

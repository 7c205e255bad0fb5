package resident

// Overwrite sets all bytes to a value, as a Poison does before each call that is timed: an answer
// of hundreds of MB byte by byte would take longer than all else between the calls.
func Overwrite(data []byte, value byte) {
	if len(data) == 0 {
		return
	}
	data[0] = value
	for n := 1; n < len(data); n *= 2 {
		copy(data[n:], data[:n])
	}
}

package resident

// Overwrite sets all bytes to a value. A Poison calls it before each timed call; byte by byte,
// hundreds of MB would take longer than the rest.
func Overwrite(data []byte, value byte) {
	if len(data) == 0 {
		return
	}
	data[0] = value
	for n := 1; n < len(data); n *= 2 {
		copy(data[n:], data[:n])
	}
}

package regular

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// Hash returns the SHA-256 of a regular file, as 64 hexadecimal digits.
func Hash(path string) (string, error) {
	f, _, err := Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read from
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

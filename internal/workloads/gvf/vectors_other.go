//go:build !amd64 || noasm

package gvf

// stepVectors returns false: this program has no vector instructions.
func (l *line[T]) stepVectors() bool { return false }

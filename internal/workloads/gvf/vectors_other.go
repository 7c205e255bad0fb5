//go:build !amd64 || noasm

package gvf

// sets are none: this program has no vector instructions.
var sets []vectors

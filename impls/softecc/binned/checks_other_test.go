//go:build !amd64 || noasm

package binned

import "eccbench/internal/checktest"

func columnChecks(string) []checktest.Check { return nil }

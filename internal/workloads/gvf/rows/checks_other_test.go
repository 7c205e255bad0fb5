//go:build !amd64 || noasm

package rows

import "eccbench/internal/checktest"

func argumentChecks() []checktest.Check { return nil }

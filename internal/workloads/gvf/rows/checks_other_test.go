//go:build !amd64 || noasm

package rows

import "eccbench/internal/sound"

func argumentChecks() []sound.Check { return nil }

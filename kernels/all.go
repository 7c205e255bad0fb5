//go:build !ptxonly

package kernels

import "embed"

//go:embed ptx/*.tar.zst
var files embed.FS

// carried says that machine code is among the files.
const carried = true

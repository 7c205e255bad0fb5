//go:build !ptxonly

package kernels

import "embed"

//go:embed ptx/*.tar.zst
var files embed.FS

// carried reports that the embedded files include machine code.
const carried = true

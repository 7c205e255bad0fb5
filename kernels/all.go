//go:build !ptxonly

package kernels

import "embed"

//go:embed ptx/*.tar.zst
var files embed.FS

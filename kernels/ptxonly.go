//go:build ptxonly

package kernels

import "embed"

//go:embed ptx/*.ptx.tar.zst
var files embed.FS

const carried = false

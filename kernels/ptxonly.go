//go:build ptxonly

package kernels

import "embed"

// The driver takes longer to compile the PTX of softecc_direct than small images take.
//
//go:embed ptx/*.ptx.tar.zst ptx/softecc_direct.sm_90.tar.zst
var files embed.FS

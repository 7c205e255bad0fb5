// Package grid defines the image types that all other packages share: shape, element type, the
// ladder of levels, the image itself (a Field in memory, or any Source of slices), and the digest
// of its bytes. It is on the lowest floor: datasets makes sources, implementations read them.
//
// Images are row-major, with the slowest axis first: depth × height × width. An image of depth 1 is
// 2D. Images are streamed by slices: planes of a 3D image, rows of a 2D image. Counts and indices
// are int64. Elements are stored in the host's byte order, which must be little-endian.
package grid

// Package grid holds the things every other package speaks of: the shape of an
// image, its element type, the ladder of levels it is reported on, the image
// itself (a Field, or any Source of slices) and the digest that names its bytes.
//
// Images are row-major with the slowest axis first: depth × height × width.
// Depth 1 is a 2D image. A slice is the unit in which an image is streamed: a
// plane of a 3D image, a row of a 2D one. Every count and index is an int64.
// Elements are stored in the host's byte order, which must be little-endian.
package grid

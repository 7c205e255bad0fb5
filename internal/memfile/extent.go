package memfile

// An Extent describes how to map a shared file: bytes from From on repeat until the mapping has
// Size bytes. The zero extent maps the file once.
type Extent struct {
	From int64 `json:"from"`
	Size int64 `json:"size"`
}

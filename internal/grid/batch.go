package grid

// A Batch is images of one shape, type and ladder, one after the other: the slices
// of all of them are those of its source, whose depth they share out.
type Batch struct {
	Source
	Images int64
}

// Image is the shape of each image.
func (b Batch) Image() Shape {
	s := b.Shape()
	return Shape{D: s.D / b.Images, H: s.H, W: s.W}
}

// At is image i of a batch that is whole in memory.
func (b Batch) At(i int64) (*Field, bool) {
	all, ok := b.Source.(*Field)
	if !ok {
		return nil, false
	}
	size := TotalBytes(b) / b.Images
	return &Field{shape: b.Image(), typ: all.typ, ladder: all.ladder, data: all.data[i*size : (i+1)*size]}, true
}

package grid

// A Batch is a stack of images of one shape, type and ladder. The slices of its source are divided
// evenly among the images.
type Batch struct {
	Source
	Images int64
}

// Image returns the shape of each image.
func (b Batch) Image() Shape {
	s := b.Shape()
	return Shape{D: s.D / b.Images, H: s.H, W: s.W}
}

// At returns image i, or false if the batch is not in memory.
func (b Batch) At(i int64) (*Field, bool) {
	all, ok := b.Source.(*Field)
	if !ok {
		return nil, false
	}
	size := TotalBytes(b) / b.Images
	return &Field{shape: b.Image(), typ: all.typ, ladder: all.ladder, data: all.data[i*size : (i+1)*size]}, true
}

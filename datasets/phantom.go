package datasets

import (
	"eccbench/datasets/random"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// Labels of a phantom: air, skin, and tissues inside.
const (
	phantomAir = iota
	phantomSkin
	phantomTissue
	phantomLabels = 11
)

func phantomGenerator() generator {
	return newGenerator("phantom",
		"11 labels as in a segmented body: air, a skin, and nine tissues by the levels of a Gaussian random field",
		"phantom/shape=287x359x202/type=float32/smooth=4/seed=7", []Param{
			shapeParam(), typeParam(),
			{"smooth", "4", "smoothness of the field that tells the tissues apart, as for grf"},
			seedParam(),
		}, readPhantom)
}

// readPhantom makes a window of a Gaussian random field of 1024 levels, and a label for each voxel.
// The label is air outside the ellipsoid that fills the image, and skin in its outermost twentieth.
// Inside, the field's level determines the tissue.
func readPhantom(r *reading) maker {
	shape := r.shape()
	typ := r.elementType()
	smooth := r.real("smooth", 4, true)
	if smooth < 0.5 || smooth > 32 {
		r.reject("smooth=%v: want 0.5 to 32 voxels", smooth)
		smooth = 4
	}
	seed, isa := r.seed(), r.isa
	return func() (grid.Source, error) {
		s, err := random.NewScale(typ, phantomLabels, 0, 1)
		if err != nil {
			return nil, err
		}
		s.Prepare()
		const levels = 1024
		field, err := random.NewScale(grid.Uint16, levels, 0, 1)
		if err != nil {
			return nil, err
		}
		p := &phantom{scale: s, field: random.NewField(shape, field, levels, random.BoxWidths(smooth), seed, isa)}
		for k, top := 0, 0; k < levels; k++ {
			for top < len(tissueTops) && k >= tissueTops[top] {
				top++
			}
			p.tissue[k] = uint32(phantomTissue + top)
		}
		return p, nil
	}
}

// tissueTops are the upper levels of the tissues, of 1024 within ±5 standard deviations: −1.5, −1,
// −0.5, 0, 0.5, 1, 1.5 and 2 standard deviations.
var tissueTops = [...]int{358, 410, 461, 512, 563, 614, 666, 717}

// A phantom is a field with a label for each voxel.
type phantom struct {
	scale  random.Scale
	field  *random.Field
	tissue [1024]uint32
}

func (p *phantom) Shape() grid.Shape   { return p.field.Shape() }
func (p *phantom) Type() grid.Type     { return p.scale.Typ }
func (p *phantom) Ladder() grid.Ladder { return p.scale.Ladder }

// ReadSlab makes slices lo ≤ i < hi.
func (p *phantom) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(p, dst, lo, hi); err != nil {
		return err
	}
	shape := p.Shape()
	voxels := shape.SliceVoxels()
	fields := grid.NewBuffer((hi - lo) * voxels * 2)
	if err := p.field.ReadSlab(fields, lo, hi); err != nil {
		return err
	}
	values, size := grid.Values[uint16](fields), p.scale.Typ.Size()
	first := lo * voxels / shape.W
	crew.Share((hi-lo)*voxels/shape.W, func(next func() (int64, bool)) {
		labels := make([]uint32, shape.W)
		for row, ok := next(); ok; row, ok = next() {
			at := row * shape.W
			p.row(labels, values[at:at+shape.W], (first+row)/shape.H, (first+row)%shape.H)
			p.scale.Put(dst[at*size:][:shape.W*size], labels)
		}
	})
	return nil
}

// row labels the voxels of a row. The relative distance from the middle is in units of 2⁻²⁰ of each
// half axis, rounded down.
func (p *phantom) row(labels []uint32, field []uint16, z, y int64) {
	shape := p.Shape()
	across := squared(y, shape.H)
	if shape.Dim() == 3 {
		across += squared(z, shape.D)
	}
	const whole = 1 << 40
	for x := range labels {
		d := across + squared(int64(x), shape.W)
		switch {
		case d > whole:
			labels[x] = phantomAir
		case d > whole/400*361: // (19/20)²
			labels[x] = phantomSkin
		default:
			labels[x] = p.tissue[field[x]]
		}
	}
}

// squared returns the squared distance of voxel i of n from the middle of an axis, where half the
// axis is 2⁴⁰.
func squared(i, n int64) int64 {
	d := (2*i + 1 - n) << 20 / n
	return d * d
}

package assess

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

// A packed image is the voxels of its only label, packed twice by code that shares nothing.
type packed struct {
	planes []uint64 // for implementations: those of each plane as in a PlaneSet
	mask   mask     // for the judge
}

// packStep is the number of bytes that are read and packed at once: they stay in the cache of a core.
const packStep = 256 << 10

// errSeveral is the error of a plane with several labels.
var errSeveral = errors.New("several labels")

// labelled is the label of a plane, 0 for none, and the place of its voxels.
type labelled struct {
	label uint8
	Place
}

// joinPlanes returns the values of the labels of planes, and their places.
func joinPlanes(planes []labelled) (table map[float32]grid.Number, places map[float32]Place) {
	table, places = map[float32]grid.Number{}, map[float32]Place{}
	for _, plane := range planes {
		if v := float32(plane.label); v > 0 {
			place := places[v]
			place.Join(plane.Place)
			table[v], places[v] = grid.Numbers(float64(v))[0], place
		}
	}
	return table, places
}

// PackPair is NewPair for two volumes of bytes that have the same label and no other one. It reads them once and keeps
// bits: half a byte a voxel for both. It returns nil for other images, for several sets, and for those
// that NewPair rejects.
func PackPair(pred, truth grid.Source, labels []grid.Number, groups []Group, cores int) (*Pair, error) {
	s, images := pred.Shape(), [2]grid.Source{pred, truth}
	if truth.Shape() != s || s.D == 1 || pred.Type() != grid.Uint8 || truth.Type() != grid.Uint8 {
		return nil, nil
	}
	p := &Pair{shape: s}
	of, layout := [2][]labelled{}, newSpace(extent{greatest: [3]int64{s.D - 1, s.H - 1, s.W - 1}}, false)
	for i := range images {
		p.packed[i] = &packed{grid.NewValues[uint64](s.D * (s.H + 2) * cells.RowWords(s.W)), layout.newMask()}
		of[i] = make([]labelled, s.D)
	}
	step := max(1, packStep/(s.H*s.W))
	blocks, slabs := int((s.D+step-1)/step), make([][]byte, cores)
	err := crew.Try(cores, 2*blocks, func(worker, task int) error {
		if slabs[worker] == nil {
			slabs[worker] = grid.NewBuffer(step * s.H * s.W)
		}
		i, lo := task%2, int64(task/2)*step
		hi := min(lo+step, s.D)
		slab := slabs[worker][:(hi-lo)*s.H*s.W]
		if err := images[i].ReadSlab(slab, lo, hi); err != nil {
			return err
		}
		for z := lo; z < hi; z++ {
			plane := binaryPlane{p.Packed(i, z), s.H, s.W}
			values := slab[(z-lo)*s.H*s.W:][:s.H*s.W]
			label, at, _, ok := plane.place(values, z)
			if !ok {
				return errSeveral
			}
			of[i][z] = labelled{label, at}
			for y := int64(0); label > 0 && y < s.H; y++ {
				packRow(p.packed[i].mask, layout.index(z+1, y+1), values[y*s.W:][:s.W], nil, uint16(label))
			}
		}
		return nil
	})
	if errors.Is(err, errSeveral) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tables [2]map[float32]grid.Number
	var places [2]map[float32]Place
	for i := range images {
		tables[i], places[i] = joinPlanes(of[i])
	}
	if p.label(tables, places, true, labels, groups) != nil || len(p.Sets) != 1 || len(p.Sets[0].Codes) != 1 {
		return nil, nil
	}
	return p, nil
}

// IsPacked reports whether the pair is bits (see PackPair).
func (p *Pair) IsPacked() bool { return p.packed[0] != nil }

// Packed returns the voxels of the only label in plane z of an image of a packed pair: 0 is the prediction.
func (p *Pair) Packed(image int, z int64) *cells.PlaneSet {
	words := (p.shape.H + 2) * cells.RowWords(p.shape.W)
	return cells.PlaneSetOf(p.packed[image].planes[z*words:], p.shape.H, p.shape.W)
}

// Fields returns the prediction and the truth. It unpacks a packed pair once, so the first call for it must not be
// parallel.
func (p *Pair) Fields() [2]*grid.Field {
	for i, of := range p.packed {
		if of != nil && p.fields[i] == nil {
			p.fields[i] = p.unpack(i, uint8(p.Sets[0].Codes[0]))
		}
	}
	return p.fields
}

// unpack returns an image of a packed pair.
func (p *Pair) unpack(image int, label uint8) *grid.Field {
	const (
		each  = 0x8040201008040201 // bit i of byte i
		most  = 0x7f7f7f7f7f7f7f7f
		bytes = 0x0101010101010101
	)
	s := p.shape
	data := grid.NewBuffer(s.Voxels())
	crew.Each(2, func(part int) {
		for row := s.D * s.H * int64(part) / 2; row < s.D*s.H*int64(part+1)/2; row++ {
			to, set := data[row*s.W:][:s.W], p.Packed(image, row/s.H).Row(row%s.H)
			for x := int64(0); x < s.W; x += word {
				bits := set[x/step] >> (x % step) & 0xff
				v := (bits*bytes&each + most) >> 7 & bytes * uint64(label)
				var eight [word]byte
				binary.LittleEndian.PutUint64(eight[:], v)
				copy(to[x:], eight[:])
			}
		}
	})
	f, err := grid.Trusted(s, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		panic(err) // the shape was that of an image
	}
	return f
}

// A binaryPlane finds the runs of planes that have a single label.
type binaryPlane struct {
	set  *cells.PlaneSet
	h, w int64
}

// place returns the label of a plane and the place of its runs in plane z, and whether it has gaps. It returns
// false if there are several labels. Without one, the label is 0 and has no runs.
func (b *binaryPlane) place(plane []uint8, z int64) (label uint8, at Place, hasGap, ok bool) {
	b.set.Fill(grid.Uint8, plane, 0)
	b.set.Invert()
	at, voxels := Place{Planes: [2]int64{z, z}}, 0
	for y := range b.h {
		last, runs := uint64(0), 0
		for i, v := range b.set.Row(y) {
			if runs|voxels == 0 && v != 0 {
				label, at.Rows[0] = plane[y*b.w+int64(64*i+bits.TrailingZeros64(v))], y
			}
			voxels += bits.OnesCount64(v)
			runs += bits.OnesCount64(v &^ (v<<1 | last>>63))
			last = v
		}
		if runs > 0 {
			at.Runs, at.Rows[1] = at.Runs+int64(runs), y
		}
	}
	gaps := bytes.Count(plane, []byte{0}) // counts of bytes do not depend on the set, which answers use too
	ok = gaps+voxels == len(plane) && (voxels == 0 || label != 0 && bytes.Count(plane, []byte{label}) == voxels)
	return label, at, gaps > 0, ok
}

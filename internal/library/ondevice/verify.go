package ondevice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	extrema "eccbench/impls/extrema/gpu"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/ecc/fingerprint/ondevice"
)

// A check compares answers with answers of a witness, whose kernels share no code with the kernels that answer.
type check struct {
	open func(device.Guest) (opened, error)

	mu      sync.Mutex
	witness opened // from the first check to the end of the plan
}

// opened is a witness.
type opened interface {
	io.Closer
	// compare returns an error of type Wrong if an answer differs. The stream is idle.
	compare(s device.Stream, images int64, image device.Buffer, answers []byte) error
}

// Wrong is the error of answers that contradict their witness.
type Wrong string

func (w Wrong) Error() string { return string(w) }

// Verify waits for the stream, and compares the finished answers for some images with a witness. For curves
// the images begin at multiples of 16.
func (p *Plans) Verify(number uint64, images int64, c Call) error {
	plan, err := p.plan(number, func(plan *Plan) bool { return plan.check != nil })
	if err != nil {
		return err
	}
	k := plan.check
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.witness == nil {
		w, err := k.open(plan.on)
		if err != nil {
			return err
		}
		k.witness = w
	}
	s := plan.on.LentStream("the caller's", c.Stream)
	if err := s.Wait(); err != nil {
		return err
	}
	answers := make([]byte, images*plan.answer)
	theirs := plan.on.LentBuffer("the caller's answers", c.Answer, images*plan.answer)
	if err := s.Download(answers, theirs, 0); err != nil {
		return err
	}
	return k.witness.compare(s, images, plan.on.LentBuffer("the caller's images", c.Image, images*plan.image), answers)
}

// byFingerprint checks curves by the fingerprints of the images.
func byFingerprint(kind extrema.ArrayKind) *check {
	return &check{open: func(d device.Guest) (opened, error) {
		key := fingerprint.Draw(1)
		look, err := ondevice.Open(d, outline{&kind}, key)
		return &fingerprints{look, d, fingerprint.CurvesOn(kind.Ladder.Len(), key), kind}, err
	}}
}

type fingerprints struct {
	*ondevice.Looker
	on      device.Guest
	ofCurve func(iter.Seq2[int64, int64]) (fingerprint.Sum, error)
	kind    extrema.ArrayKind
}

func (f *fingerprints) compare(_ device.Stream, images int64, image device.Buffer, answers []byte) error {
	each := image.Bytes() / images
	for first := int64(0); first < images; first += ondevice.MostImages {
		n := min(ondevice.MostImages, images-first)
		want, err := f.OfEach(f.on.LentBuffer("the caller's images", image.Address()+uint64(first*each), n*each), n)
		if err != nil {
			return err
		}
		for i, want := range want {
			at := first + int64(i)
			got, err := f.ofCurve(changes(answers[8*f.kind.Rows*at:][:8*f.kind.Rows], f.kind.Ladder.Len()))
			if err != nil {
				return err
			}
			if !got.Equal(want) {
				return Wrong(fmt.Sprintf("the curve of image %d is WRONG: its fingerprint is %v, that of the image %v",
					at, got, want))
			}
		}
	}
	return nil
}

// changes yields the changes of a curve at its first levels. The rest is at the last level of all,
// where χ is 1, the Euler characteristic of the box.
func changes(data []byte, levels int64) iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		last := int64(0)
		for k := range int64(len(data) / 8) {
			chi := int64(binary.LittleEndian.Uint64(data[8*k:]))
			if !yield(k, chi-last) {
				return
			}
			last = chi
		}
		if levels > int64(len(data)/8) {
			yield(levels-1, 1-last)
		}
	}
}

// outline is an image without readable voxels.
type outline struct{ *extrema.ArrayKind }

func (o outline) Shape() grid.Shape   { return o.ArrayKind.Shape }
func (o outline) Type() grid.Type     { return o.ArrayKind.Type }
func (o outline) Ladder() grid.Ladder { return o.ArrayKind.Ladder }
func (outline) ReadSlab([]byte, int64, int64) error {
	return errors.New("an image that is in its caller's memory")
}

package counting

import (
	"errors"
	"fmt"

	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// A Batch counts images in memory that other programs allocated, each at the limits of its plan. Kernels write only to
// memory from the caller, so that counts may be enqueued on several streams at once, and be captured in a graph.
// No count may still be running on a caller's stream at Close.
type Batch struct {
	resident.Objects
	plan   Plan
	on     device.Guest
	steps  map[string]step // by kernel
	tables []device.Buffer
	asked  QuestionSet
	image  int64 // bytes
	chunk  int64 // number of questions in a launch
}

const (
	mostQuestions = 1<<16 - 1 // rows of a grid
	chunkBytes    = 256 << 20 // working memory, unless a question needs more
)

// OpenBatch loads the kernels of a plan for images of some bytes.
func OpenBatch(d device.Guest, p Plan, image, levels int64, above bool) (b *Batch, err error) {
	b = &Batch{Objects: resident.NewObjects(d), plan: p, on: d, steps: map[string]step{},
		asked: QuestionSet{Levels: levels, Above: above}, image: image}
	b.chunk = max(1, min(chunkBytes/resident.PartsBytes(b.parts(1)), mostQuestions))
	defer func() {
		if err != nil {
			b, err = nil, errors.Join(err, b.Close())
		}
	}()
	s, err := d.NewStream("limits of Betti numbers")
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if b.tables = p.tables(&b.Objects, s); b.Err() != nil {
		return b, b.Err()
	}
	none := Memory{Tables: b.tables, Scratch: make([]device.Buffer, len(p.Scratch))}
	list := append(p.Launches(none), p.Numbers(nil, nil))
	for i, s := range load(&b.Objects, p.Module, list) {
		b.steps[list[i].Kernel] = s
	}
	return b, b.Err()
}

// parts lists the sizes of the parts of the working memory for some questions: the counts, then the scratch buffers.
func (b *Batch) parts(questions int64) []int64 {
	list := []int64{8 * b.plan.Counts * questions}
	for _, s := range b.plan.Scratch {
		list = append(list, s.Bytes*questions)
	}
	return list
}

// Most is the largest number of images that one call of Enqueue counts.
func (b *Batch) Most() int64 { return max(1, b.chunk/b.asked.Levels) }

// Memory returns the number of bytes that Enqueue needs for each image, at an address that is a multiple of 256.
func (b *Batch) Memory() int64 { return resident.PartsBytes(b.parts(min(b.asked.Levels, b.chunk))) }

// Answer returns the number of bytes of the answers for an image.
func (b *Batch) Answer() int64 { return 8 * b.plan.Answer * b.asked.Levels }

// Enqueue enqueues the answers for consecutive images on a stream. Nothing else may use the memory until then.
func (b *Batch) Enqueue(s device.Stream, images int64, image, answers, memory device.Buffer) error {
	bytes, work := images*b.image, b.Memory()*min(images, b.Most())
	if image.Bytes() < bytes || memory.Bytes() < work {
		return fmt.Errorf("%d images of %d bytes with %d bytes of memory: want %d and %d",
			images, image.Bytes(), memory.Bytes(), bytes, work)
	}
	all, asked := images*b.asked.Levels, b.asked
	if b.plan.Words {
		asked.From = int64(image.Address() % 16)
		image = b.on.LentBuffer("the caller's images", image.Address()-uint64(asked.From), image.Bytes()+asked.From)
	}
	for first := int64(0); first < all; first += b.chunk {
		asked.Images, asked.First, asked.Questions = images, first, min(b.chunk, all-first)
		parts := resident.Parts(b.on, memory, b.parts(asked.Questions))
		m := Memory{Image: image, Tables: b.tables, QuestionSet: asked, Counts: parts[0], Scratch: parts[1:]}
		each := 8 * b.plan.Answer
		answer := b.on.LentBuffer("answers", answers.Address()+uint64(each*first), each*asked.Questions)
		list := append(b.plan.Launches(m), b.plan.Numbers(m.Counts, answer))
		if err := b.launch(s, list, m.Counts, asked.Questions); err != nil {
			return err
		}
	}
	return nil
}

// launch enqueues launches, with a row of the grid for each question.
func (b *Batch) launch(s device.Stream, list []Launch, counts device.Buffer, questions int64) error {
	return b.on.Do(func() error {
		if err := s.Fill32(counts, 0, counts.Bytes()/4, 0); err != nil {
			return err
		}
		for _, l := range list {
			shape := b.steps[l.Kernel].shape
			if shape.Grid.X = l.Blocks; !l.Together {
				shape.Grid.Y = questions
			}
			if err := s.Launch(b.steps[l.Kernel].kernel, shape, l.Args...); err != nil {
				return err
			}
		}
		return nil
	})
}

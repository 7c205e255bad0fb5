package counting

import (
	"errors"
	"fmt"

	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// A Batch counts images in memory that other programs allocated, each at the limits of its plan. Kernels write only to
// memory from the caller, so that counts may be enqueued on several streams at once, and be captured in a graph.
type Batch struct {
	plan   Plan
	on     device.Guest
	module device.Module
	steps  map[string]step // by kernel
	tables []device.Buffer
	asked  Asked
	image  int64 // bytes
	chunk  int64 // number of questions in a launch
}

const (
	mostQuestions = 1<<16 - 1 // rows of a grid
	chunkBytes    = 256 << 20 // working memory, unless a question needs more
	alignment     = 256       // of buffers in the working memory
)

// OpenBatch loads the kernels of a plan for images of some bytes.
func OpenBatch(d device.Guest, p Plan, image, levels int64, above bool) (b *Batch, err error) {
	b = &Batch{plan: p, on: d, steps: map[string]step{}, asked: Asked{Levels: levels, Above: above}, image: image}
	b.chunk = max(1, min(chunkBytes/b.bytes(1), mostQuestions))
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
	for _, t := range p.Tables {
		table, err := d.Alloc(t.Name, int64(len(t.Data)))
		if err != nil {
			return b, err
		}
		b.tables = append(b.tables, table)
		if err := s.Upload(table, 0, t.Data); err != nil {
			return b, err
		}
	}
	none := Memory{Tables: b.tables, Scratch: make([]device.Buffer, len(p.Scratch))}
	list := append(p.Launches(none), p.Numbers(nil, nil))
	var steps []step
	b.module, steps, err = load(d, p.Module, list, 1)
	for _, s := range steps {
		b.steps[s.kernel.Name()] = s
	}
	return b, err
}

// bytes returns the working memory for some questions.
func (b *Batch) bytes(questions int64) int64 {
	n := aligned(questions * 8 * b.plan.Counts)
	for _, s := range b.plan.Scratch {
		n += aligned(questions * s.Bytes)
	}
	return n
}

func aligned(bytes int64) int64 { return (bytes + alignment - 1) / alignment * alignment }

// Most is the largest number of images that one call of Enqueue counts.
func (b *Batch) Most() int64 { return max(1, b.chunk/b.asked.Levels) }

// Memory returns the number of bytes that Enqueue needs for each image, at an address that is a multiple of 256.
func (b *Batch) Memory() int64 { return b.bytes(min(b.asked.Levels, b.chunk)) }

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
		at := int64(0)
		take := func(name string, bytes int64) device.Buffer {
			p := b.part(name, memory, at, bytes)
			at += aligned(bytes)
			return p
		}
		m := Memory{Image: image, Tables: b.tables, Asked: asked}
		for _, s := range b.plan.Scratch {
			m.Scratch = append(m.Scratch, take(s.Name, asked.Questions*s.Bytes))
		}
		m.Counts = take("counts", asked.Questions*8*b.plan.Counts)
		answer := b.part("answers", answers, 8*b.plan.Answer*asked.First, 8*b.plan.Answer*asked.Questions)
		list := append(b.plan.Launches(m), b.plan.Numbers(m.Counts, answer))
		if err := b.launch(s, list, m.Counts, asked.Questions); err != nil {
			return err
		}
	}
	return nil
}

// part returns a part of a buffer.
func (b *Batch) part(name string, of device.Buffer, at, bytes int64) device.Buffer {
	return b.on.LentBuffer(name, of.Address()+uint64(at), bytes)
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

// Close frees the kernels and the limits. No count may still be running.
func (b *Batch) Close() error {
	var errs []error
	for _, t := range b.tables {
		errs = append(errs, t.Close())
	}
	return errors.Join(append(errs, resident.CloseAll(b.module))...)
}

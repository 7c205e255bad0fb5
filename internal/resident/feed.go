package resident

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// A Feed copies an image to a device in pieces of whole slices through pinned memory. The device
// copies pinned memory at the full rate of its link. Several goroutines fill pieces from a file or
// from other host memory, while earlier pieces are copied: one core copies memory more slowly than
// a link. An image that is entirely in memory may be pinned in place and copied from there. A feed
// allocates its memory when it is made.
type Feed struct {
	Objects
	in     grid.Source
	slices int64    // of a piece
	whole  *Place   // the image, when it is pinned where it is
	stages []*stage // otherwise the stages that are filled ahead of the copies
}

// A stage holds a piece in pinned memory.
type stage struct {
	piece       device.Pinned
	began, sent device.Event // around the copy, after which it may be overwritten
}

// A Piece is slices Lo ≤ i < Hi of an image: a number of bytes in pinned memory at an offset.
type Piece struct {
	Index, Lo, Hi int64
	From          device.Memory
	Off, Bytes    int64
}

const (
	pieceBytes = 8 << 20   // of an image with one destination
	mostAhead  = 8         // pieces that are filled at the same time
	aheadBytes = 256 << 20 // that they take together, but for two
	// Smaller images are staged in one go: pinning memory takes longer than they do.
	leastStaged = 256 << 20
)

// NewFeed makes a feed for images that are uploaded repeatedly, in pieces of about bytes bytes.
// With 0, the size suits an image that is copied to one place. It uses the given number of
// goroutines, at least two. An image that Pin can pin is copied from its place.
func NewFeed(d device.Device, in grid.Source, bytes int64, threads int) (*Feed, error) {
	slices := PieceSlices(in, bytes)
	whole, err := Pin(d, in, slices*grid.SliceBytes(in))
	if err == nil && whole == nil {
		return NewStages(d, in, bytes, threads)
	}
	return &Feed{Objects: NewObjects(d), in: in, slices: slices, whole: whole}, err
}

// NewStages is NewFeed without pinning the image in place, for a single upload: pinning takes
// longer than the copy.
func NewStages(d device.Device, in grid.Source, bytes int64, threads int) (*Feed, error) {
	f := &Feed{Objects: NewObjects(d), in: in, slices: PieceSlices(in, bytes)}
	size := f.slices * grid.SliceBytes(in)
	ahead := max(2, min(int64(threads), mostAhead, aheadBytes/size))
	for i := range min(ahead, f.Pieces()) {
		f.stages = append(f.stages, &stage{f.NewPinned(fmt.Sprintf("piece %d on the host", i), size),
			f.NewEvent(fmt.Sprintf("piece %d begun", i)), f.NewEvent(fmt.Sprintf("piece %d sent", i))})
	}
	if f.err != nil {
		return nil, errors.Join(f.err, f.Close())
	}
	return f, nil
}

// PieceSlices returns the number of slices of a piece of about bytes bytes, or of a suitable size
// for 0.
func PieceSlices(in grid.Source, bytes int64) int64 {
	if bytes == 0 {
		bytes = pieceBytes
	}
	return max(1, min(bytes/grid.SliceBytes(in), in.Shape().Slices()))
}

// Pieces returns the number of pieces.
func (f *Feed) Pieces() int64 { return (f.in.Shape().Slices() + f.slices - 1) / f.slices }

// Whole reports whether the image is pinned in place.
func (f *Feed) Whole() bool { return f.whole != nil }

// staged is piece k at the beginning of a stage.
func (f *Feed) staged(k int64, from device.Memory) Piece {
	lo, hi := k*f.slices, min((k+1)*f.slices, f.in.Shape().Slices())
	return Piece{Index: k, Lo: lo, Hi: hi, From: from, Bytes: (hi - lo) * grid.SliceBytes(f.in)}
}

// placed is piece k where the image is.
func (f *Feed) placed(k int64) Piece {
	p := f.staged(k, nil)
	p.From, p.Off = f.whole.At(p.Lo * grid.SliceBytes(f.in))
	return p
}

// Each calls send with the pieces in order, on the device's thread; send adds their copies to the
// stream. Each does not wait for the last of them, but they must be complete before the next call.
// The part "read into pinned memory" of the trace is the sum over the goroutines. After an error no
// copy is in progress.
func (f *Feed) Each(s device.Stream, trace *bench.Trace, send func(Piece) error) error {
	return f.each(s, trace, false, send)
}

// Fill is Each, and returns when the image is there. The part "upload" is the time that
// the device copies for.
func (f *Feed) Fill(s device.Stream, trace *bench.Trace, send func(Piece) error) error {
	if f.Whole() {
		defer trace.Span("upload")()
	}
	if err := f.each(s, trace, trace != nil, send); err != nil {
		return err
	}
	return s.Wait()
}

// Upload fills a buffer from offset at.
func (f *Feed) Upload(s device.Stream, to device.Buffer, at int64, trace *bench.Trace) error {
	return f.Fill(s, trace, f.copied(s, to, at))
}

// Add is Upload without waiting for the last copies.
func (f *Feed) Add(s device.Stream, to device.Buffer, at int64) error {
	return f.Each(s, nil, f.copied(s, to, at))
}

func (f *Feed) copied(s device.Stream, to device.Buffer, at int64) func(Piece) error {
	size := grid.SliceBytes(f.in)
	return func(p Piece) error { return s.Copy(to, at+p.Lo*size, p.From, p.Off, p.Bytes) }
}

func (f *Feed) each(s device.Stream, trace *bench.Trace, timed bool, send func(Piece) error) (err error) {
	defer func() {
		if err != nil {
			_ = s.Wait() // the first error is returned
		}
	}()
	if f.Whole() {
		// All of it is added at once, without a change of threads.
		return f.On.Do(func() error {
			for k := range f.Pieces() {
				if err := send(f.placed(k)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	run := flow{Feed: f, s: s, trace: trace, timed: timed}
	if f.Pieces() == 1 { // nothing runs in parallel
		return run.onlyPiece(send)
	}
	run.stop = make(chan struct{})
	for range f.stages {
		run.filled, run.added = append(run.filled, make(chan error, 1)), append(run.added, make(chan struct{}, 1))
	}
	errs := make([]error, len(f.stages))
	var wg sync.WaitGroup
	for i := range f.stages {
		wg.Go(func() { errs[i] = run.fill(i) })
	}
	if err = run.send(send); err != nil {
		close(run.stop)
	}
	wg.Wait()
	if err != nil {
		return err
	}
	return errors.Join(errs...)
}

// A flow is an image on its way through stages.
type flow struct {
	*Feed
	s      device.Stream
	trace  *bench.Trace
	timed  bool            // the copies are a part of the trace
	filled []chan error    // for each stage, when its next piece is there
	added  []chan struct{} // for each stage, when its copy is in the stream
	stop   chan struct{}   // nothing more is sent
}

// onlyPiece sends the image as one piece.
func (w *flow) onlyPiece(send func(Piece) error) error {
	st := w.stages[0]
	if err := w.read(st, 0); err != nil {
		return err
	}
	if err := w.add(st, 0, send); err != nil || !w.timed {
		return err
	}
	return w.arrived(st)
}

// read puts piece k into a stage.
func (w *flow) read(st *stage, k int64) error {
	defer w.trace.Span("read into pinned memory")()
	p := w.staged(k, st.piece)
	return w.in.ReadSlab(st.piece.Data()[:p.Bytes], p.Lo, p.Hi)
}

// add has the piece in a stage sent.
func (w *flow) add(st *stage, k int64, send func(Piece) error) error {
	return w.On.Do(func() error {
		if w.timed {
			if err := w.s.Record(st.began); err != nil {
				return err
			}
		}
		if err := send(w.staged(k, st.piece)); err != nil {
			return err
		}
		return w.s.Record(st.sent)
	})
}

// fill fills stage i with its pieces, each after the last one has been sent.
func (w *flow) fill(i int) error {
	st, step := w.stages[i], int64(len(w.stages))
	for k := int64(i); k < w.Pieces(); k += step {
		select {
		case <-w.stop:
			return nil
		default:
		}
		err := w.read(st, k)
		w.filled[i] <- err
		if err != nil {
			return nil // send returns it
		}
		if k+step >= w.Pieces() && !w.timed {
			return nil // nothing waits for the stage
		}
		select {
		case <-w.added[i]:
		case <-w.stop:
			return nil
		}
		if err := w.arrived(st); err != nil {
			w.filled[i] <- err
			return err
		}
	}
	return nil
}

// arrived waits until the piece of a stage was sent.
func (w *flow) arrived(st *stage) error {
	if err := st.sent.Wait(); err != nil || !w.timed {
		return err
	}
	took, err := st.sent.Since(st.began)
	w.trace.Add("upload", took)
	return err
}

// send sends the pieces in order, as they are filled.
func (w *flow) send(send func(Piece) error) error {
	for k := range w.Pieces() {
		i := int(k % int64(len(w.stages)))
		if err := <-w.filled[i]; err != nil {
			return err
		}
		if err := w.add(w.stages[i], k, send); err != nil {
			return err
		}
		w.added[i] <- struct{}{}
	}
	return nil
}

// Close frees the memory. No copy may be in progress.
func (f *Feed) Close() error { return errors.Join(f.Objects.Close(), f.whole.Close()) }

// Stage copies an image to a place in a buffer of the device once. It returns when the
// image is there.
func Stage(d device.Device, s device.Stream, to device.Buffer, at int64, in grid.Source) error {
	if grid.TotalBytes(in) < leastStaged {
		return grid.EachSlab(in, func(slab []byte, lo, _ int64) error {
			return s.Upload(to, at+lo*grid.SliceBytes(in), slab)
		})
	}
	f, err := NewStages(d, in, 0, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	return errors.Join(f.Upload(s, to, at, nil), f.Close())
}

package resident

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"eccbench/internal/device"
)

// A Handover is a table that a kernel adds to. The kernel's last block copies it to the host and
// clears it for the next launch (kernels/handover.h). So the stream needs no further work after the
// launch.
type Handover struct {
	d          device.Device
	stream     device.Stream
	bytes      int64         // of the table, and of its copy on the host
	total      device.Buffer // the table
	result     device.Pinned // the table on the host, and the word that marks its arrival
	copy       device.Buffer // replaces result for a timed kernel, else nil
	start, end device.Event  // around a timed launch
	dirty      bool          // total may not be clear
}

// wordAlign is the alignment of the table's copies, and of the word behind it.
const wordAlign = 64

// NewHandover allocates a table. Where timed, the launches are between two events, and
// the copy to the host is after the second.
func NewHandover(o *Objects, s device.Stream, bytes int64, timed bool) *Handover {
	room := (bytes + wordAlign - 1) / wordAlign * wordAlign
	h := &Handover{d: o.On, stream: s, bytes: bytes, dirty: true, total: o.NewBuffer("changes", room),
		result: o.NewPinned("changes on the host", room+wordAlign)}
	if timed {
		h.copy = o.NewBuffer("changes that are handed over", room+wordAlign)
		h.start, h.end = o.NewEvent("start"), o.NewEvent("end")
	}
	return h
}

// Parameters returns the kernel's arguments: the addresses of the table and of the word.
func (h *Handover) Parameters() (table, word uint64) {
	to := device.Memory(h.result)
	if h.copy != nil {
		to = h.copy
	}
	return to.Address(), to.Address() + uint64(to.Bytes()-wordAlign)
}

// Total is the buffer that the kernel adds to.
func (h *Handover) Total() device.Buffer { return h.total }

// Data returns the table of the last Run.
func (h *Handover) Data() []byte { return h.result.Data()[:h.bytes] }

// word is set to 1 by the kernel when the table has arrived.
func (h *Handover) word() *uint32 {
	return (*uint32)(unsafe.Pointer(&h.result.Data()[h.result.Bytes()-wordAlign]))
}

// spins is the number of looks at the word, tens of µs, before the host waits for the stream. That
// wait takes microseconds more.
const spins = 100_000

// Run launches a kernel and returns when its table is on the host. It first clears the table if an
// earlier launch failed.
func (h *Handover) Run(launch func() error) error {
	if h.dirty {
		if err := h.stream.Fill(h.total, 0, h.total.Bytes(), 0); err != nil {
			return err
		}
	}
	h.dirty = true
	atomic.StoreUint32(h.word(), 0)
	if h.copy != nil {
		if err := h.d.Do(func() error { return h.timed(launch) }); err != nil {
			return err
		}
	} else {
		// launch is a single call without Do, so that other goroutines can use the device while the
		// kernel runs.
		if err := launch(); err != nil {
			return err
		}
		for range spins {
			if atomic.LoadUint32(h.word()) == 1 {
				h.dirty = false
				return nil
			}
		}
	}
	if err := h.stream.Wait(); err != nil {
		return err
	}
	if atomic.LoadUint32(h.word()) != 1 {
		return fmt.Errorf("%s: the kernel ended without handing its table over", h.stream.Name())
	}
	h.dirty = false
	return nil
}

// timed launches between the events, and copies the table.
func (h *Handover) timed(launch func() error) error {
	if err := h.stream.Record(h.start); err != nil {
		return err
	}
	if err := launch(); err != nil {
		return err
	}
	if err := h.stream.Record(h.end); err != nil {
		return err
	}
	return h.stream.Copy(h.result, 0, h.copy, 0, h.copy.Bytes())
}

// Elapsed returns the device time of the last launch, if it was timed.
func (h *Handover) Elapsed() (time.Duration, error) {
	if h.end == nil {
		return 0, ErrUntimed
	}
	return h.end.Since(h.start)
}

// Poison overwrites the kernel's result. The kernel itself clears the table that it adds to.
func (h *Handover) Poison(value byte) {
	Overwrite(h.Data(), value)
	if h.copy == nil {
		return
	}
	// A device that cannot be written to fails at the next call, with the reason.
	_ = h.stream.Fill(h.copy, 0, h.copy.Bytes(), value)
	_ = h.stream.Wait()
}

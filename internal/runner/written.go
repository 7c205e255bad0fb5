package runner

import (
	"context"
	"fmt"
	"os"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/peers"
	"eccbench/internal/verify"
)

// writable reports whether workers map their inputs as writable memory. A device needs that to pin
// them. A peer has its own device memory.
func writable(a bench.About) bool { return a.Where != "cpu" && a.Foreign == nil }

// hash records the content of the shared inputs before the first worker that may write to them.
func (g *group) hash(c cell) error {
	if !writable(c.about) || g.hashes != nil {
		return nil
	}
	for _, f := range g.shared {
		h, err := memfile.Hash(f)
		if err != nil {
			return err
		}
		g.hashes = append(g.hashes, h)
	}
	return nil
}

// seal protects the shared inputs from a process that answers. A worker that writes to its inputs
// gets copies of sealed ones, and seals them itself.
func (g *group) seal(ctx context.Context, c cell) error {
	writes := writable(c.about) || g.edits(c)
	for i, f := range g.shared {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !writes && g.peer(c) != nil {
			memfile.Seal(f)
		}
		if writes && memfile.Sealed(f) {
			unsealed, err := memfile.Copy(f)
			if err != nil {
				return err
			}
			f.Close()
			g.shared[i] = unsealed
		}
	}
	return nil
}

// peer returns the process that answers a cell in place of its judge: a peer, one of ours, or nil.
func (g *group) peer(c cell) *peers.Peer {
	if g.Outside == nil || c.about.Foreign != nil || g.scope != bench.E2E {
		return c.about.Foreign
	}
	return g.Outside(c.bench.Name(), c.about.Name)
}

// edits reports whether the worker of a cell edits the shared inputs. It does not if it may have a
// process from an earlier task, which could write to them first.
func (g *group) edits(c cell) bool {
	p := g.peer(c)
	return p != nil && p.Edits && g.Sampling != nil
}

// remake makes the shared inputs anew, if there are any.
func (g *group) remake(ctx context.Context) error {
	if g.shared == nil {
		return nil
	}
	closeAll(g.shared)
	g.shared = nil
	return g.share(ctx)
}

// restore detects a worker that wrote to a shared input. Its cell becomes WRONG, regardless of its
// result, and the inputs are made again for the next cells. They also are if the worker of edits
// did not finish.
func (g *group) restore(ctx context.Context, c cell, r *bench.CellRecord, whole bool) error {
	if !writable(c.about) {
		if !whole && g.edits(c) {
			return g.remake(ctx)
		}
		return nil
	}
	for i, f := range g.shared {
		now, err := memfile.Hash(f)
		if err != nil {
			return err
		}
		if now == g.hashes[i] {
			continue
		}
		written := g.shared
		defer closeAll(written)
		g.shared = nil
		if err := g.share(ctx); err != nil {
			return err
		}
		d, err := firstByte(g.shared[i], written[i])
		if err != nil {
			return err
		}
		why := fmt.Sprintf("it wrote to its input %s, %v", g.variants[i], d)
		if r.Failed() {
			why += fmt.Sprintf("; and it is %s: %s", r.Status, r.Reason)
		}
		r.Status, r.Reason = verify.Wrong, why
		r.Evidence = append(r.Evidence, verify.Evidence{Input: g.variants[i], Witness: "leaves its input alone", Diff: d})
		return nil
	}
	return nil
}

// firstByte returns the first difference between two files.
func firstByte(want, got *os.File) (*verify.Diff, error) {
	was, err := memfile.MapWhole(want)
	if err != nil {
		return nil, err
	}
	defer memfile.Unmap(was)
	is, err := memfile.MapWhole(got)
	if err != nil {
		return nil, err
	}
	defer memfile.Unmap(is)
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			return &verify.Diff{Where: fmt.Sprintf("byte %d of what is shared", i),
				Want: fmt.Sprintf("%#04x", was[i]), Got: fmt.Sprintf("%#04x", is[i])}, nil
		}
	}
	return &verify.Diff{Where: "what is shared", Want: fmt.Sprintf("%d bytes", len(was)), Got: fmt.Sprintf("%d bytes", len(is))}, nil
}

package duality

import "math/bits"

// onward sets the bits of each run of a word from its lowest chosen bit on; the chosen ones
// are bits of runs.
func onward(runs, chosen uint64) uint64 { return ((runs+chosen)^runs)&runs | chosen }

// upTo is the bits of a word up to one.
func upTo(bit int) uint64 { return 2<<uint(bit) - 1 }

// node is the number of the run that a bit is of, in a word with the starts of its runs of
// which the first has number first.
func node(first int32, starts uint64, bit int) int32 {
	return first + int32(bits.OnesCount64(starts&upTo(bit))) - 1
}

// linkRuns links the runs of a row of the background with those of the row before it in its
// plane, and with those of the same row in the plane before. One link is enough for each run
// of bits that two rows share. Between planes none is needed for a run where the rows before
// have both bits, too: a square, of which the other three sides are linked already.
func (j *job) linkRuns(z, y int64, rows, planes bool) (joined int64) {
	rows, planes = rows && y > 0, planes && z > 0
	at := z*j.h + y
	this := j.row(z, y)
	above, behind, both := j.none, j.none, j.none
	var first, firstAbove, firstBehind = j.runs[at], int32(0), int32(0)
	if y > 0 {
		above, firstAbove = j.row(z, y-1), j.runs[at-1]
	}
	if planes {
		behind, firstBehind = j.row(z-1, y), j.runs[at-j.h]
		if both = j.row(z-1, y-1); y == 0 {
			both = j.none
		}
	}
	above, behind, both = above[:len(this)], behind[:len(this)], both[:len(this)]
	parent := j.background
	var o, u, b, ou uint64 // the last bits of the words before
	for i := range this {
		mask, next := ^uint64(0), uint64(0)
		if i == len(this)-1 {
			mask = j.last
		}
		v := ^this[i] & mask
		starts := v &^ (v<<1 | o)
		upper := ^above[i] & mask
		if rows {
			startsAbove := upper &^ (upper<<1 | u)
			shared := v & upper
			for links := shared &^ (shared<<1 | ou); links != 0; links &= links - 1 {
				bit := bits.TrailingZeros64(links)
				joined += unite(parent, node(first, starts, bit), node(firstAbove, startsAbove, bit))
			}
			firstAbove += int32(bits.OnesCount64(startsAbove))
			u, ou = upper>>63, shared>>63
		}
		if planes {
			back := ^behind[i] & mask
			startsBehind := back &^ (back<<1 | b)
			shared := v & back
			if i+1 < len(this) {
				next = ^this[i+1] & ^behind[i+1] & 1 // within the row where the last bit of this word is
			}
			closed := uint64(0)
			if y > 0 {
				closed = shared & upper & ^both[i]
				if j.fault == SquareWrong {
					closed = shared & upper
				}
			}
			for links := shared &^ (shared>>1 | next<<63) &^ onward(shared, closed); links != 0; links &= links - 1 {
				bit := bits.TrailingZeros64(links)
				joined += unite(parent, node(first, starts, bit), node(firstBehind, startsBehind, bit))
			}
			firstBehind += int32(bits.OnesCount64(startsBehind))
			b = back >> 63
		}
		first += int32(bits.OnesCount64(starts))
		o = v >> 63
	}
	return joined
}

// A bundle is the four rows of a pair of rows in a pair of planes.
type bundle struct {
	rows   [4][]uint64 // of the first plane, then of the second
	first  int32       // the next node
	starts uint64      // of runs, in the word at hand
	any    uint64      // the word of all rows
	before uint64      // the one before it
	word   [4]uint64
	last   [4]uint64 // the words before those
}

// take goes to the next word.
func (b *bundle) take(i int) {
	b.first += int32(bits.OnesCount64(b.starts))
	b.before, b.last = b.any, b.word
	b.word = [4]uint64{b.rows[0][i], b.rows[1][i], b.rows[2][i], b.rows[3][i]}
	b.any = b.word[0] | b.word[1] | b.word[2] | b.word[3]
	b.starts = b.any &^ (b.any<<1 | b.before>>63)
}

// bundleAt is a pair of rows in a pair of planes, empty beyond the box.
func (j *job) bundleAt(k, r int64) (b bundle) {
	b.rows = [4][]uint64{j.row(2*k, 2*r), j.row(2*k, 2*r+1), j.row(2*k+1, 2*r), j.row(2*k+1, 2*r+1)}
	if k >= 0 && r >= 0 {
		b.first = j.bundles[k*j.rowPairs+r]
	}
	return b
}

// linkBundles links the runs of a bundle with those of the bundle above in its pair of
// planes, and with those of the same and of the one above in the pair of planes behind; and
// the one above with the one behind.
//
// Voxels of two bundles touch where the rows that face each other have bits at most one
// apart. A run of columns that both bundles have is linked once where some touch in it. None
// is needed where other links close a circle:
//
//   - from plane to plane, where the bundles above are linked likewise and both with those
//     below;
//   - across, where either of the two other bundles is linked with both.
//
// Links along a plane are never left out, so that no two are left out because of each other.
func (j *job) linkBundles(k, r int64, rows, planes bool) (joined int64) {
	this, above := j.bundleAt(k, r), j.bundleAt(k, r-1)
	behind, both := bundle{}, bundle{}
	n := len(j.none)
	if planes {
		behind, both = j.bundleAt(k-1, r), j.bundleAt(k-1, r-1)
	}
	parent := j.foreground
	for i := range n {
		this.take(i)
		above.take(i)
		// What faces each other along the plane, and where it meets.
		down, downLast := this.word[0]|this.word[2], this.last[0]|this.last[2]
		up, upLast := above.word[1]|above.word[3], above.last[1]|above.last[3]
		if rows {
			joined += meet(parent, &this, &above, down, up, downLast, upLast, 0, true)
		}
		if !planes {
			continue
		}
		behind.take(i)
		both.take(i)
		front, frontLast := this.word[0]|this.word[1], this.last[0]|this.last[1]
		back, backLast := behind.word[2]|behind.word[3], behind.last[2]|behind.last[3]
		// Where the four bundles are linked with each other along the plane and across.
		rowThis := down & up
		rowBehind := (behind.word[0] | behind.word[2]) & (both.word[1] | both.word[3])
		planeAbove := (above.word[0] | above.word[1]) & (both.word[2] | both.word[3])
		planeThis := front & back
		closed := rowThis & rowBehind & planeAbove
		if j.fault == SquareWrong {
			closed = rowThis & planeAbove
		}
		joined += meet(parent, &this, &behind, front, back, frontLast, backLast, closed, true)
		corners := j.fault != Eighteen
		joined += meet(parent, &this, &both, this.word[0], both.word[3], this.last[0], both.last[3],
			rowThis&planeAbove|planeThis&rowBehind, corners)
		joined += meet(parent, &above, &behind, above.word[1], behind.word[2], above.last[1], behind.last[2],
			rowThis&planeThis|planeAbove&rowBehind, corners)
	}
	return joined
}

// meet links the runs of two bundles in a word, in which rows p and q face each other; the
// words before are those of the last bits. Runs of columns in which a bit is closed are linked
// otherwise.
func meet(parent []int32, a, b *bundle, p, q, pLast, qLast, closed uint64, corners bool) (joined int64) {
	shared, facing := a.any&b.any, p&q
	touching := facing
	if corners {
		after, before := p&(q<<1|qLast>>63), q&(p<<1|pLast>>63) // one column apart
		touching |= after&b.any | before&a.any
		covered := facing<<1 | (pLast&qLast)>>63 // by the column before
		for links := after &^ b.any &^ covered; links != 0; links &= links - 1 {
			bit := bits.TrailingZeros64(links)
			// The other run ends before this column: it is the last one before it.
			joined += unite(parent, node(a.first, a.starts, bit), node(b.first, b.starts, bit))
		}
		for links := before &^ a.any &^ covered; links != 0; links &= links - 1 {
			bit := bits.TrailingZeros64(links)
			joined += unite(parent, node(a.first, a.starts, bit), node(b.first, b.starts, bit))
		}
	}
	for links := shared &^ (shared >> 1) & onward(shared, touching) &^ onward(shared, closed&shared); links != 0; links &= links - 1 {
		bit := bits.TrailingZeros64(links)
		joined += unite(parent, node(a.first, a.starts, bit), node(b.first, b.starts, bit))
	}
	return joined
}

package report

import (
	"testing"

	"eccbench/internal/peers"
	"eccbench/internal/verify"
)

// A peer is never the best CPU row, verified or not, and keeps its identity.
func TestPeersAreNotTheBest(t *testing.T) {
	for _, status := range []verify.Status{verify.Verified, verify.Noisy} {
		recs := sorting()
		best := map[string]float64{}
		for _, r := range Rows(recs, "read") {
			best[r.Impl] = r.Speedup
		}
		guest := recs.Cells[2]
		guest.Impl, guest.Peer, guest.Floor, guest.Status = "peer:quick", &peers.Stamp{Version: "2", SHA256: "abc"}, 1e-5, status
		s := *guest.Seconds
		s.Median, s.Lo, s.Hi = s.Median/10, s.Lo/10, s.Hi/10
		guest.Seconds = &s
		recs.Cells = append(recs.Cells, guest)
		for _, r := range Rows(recs, "read") {
			if r.Impl == guest.Impl {
				if r.Peer == nil || r.Peer.Version != "2" || r.Floor != 1e-5 {
					t.Errorf("%+v, floor %v", r.Peer, r.Floor)
				}
			} else if r.Speedup != best[r.Impl] {
				t.Errorf("%s: %s beside a %s guest, %s without", r.Impl, times(r.Speedup), status, times(best[r.Impl]))
			}
		}
	}
}

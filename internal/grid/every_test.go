package grid

import (
	"bytes"
	"encoding/gob"
	"math"
	"testing"
)

// The ladder of every float32 ascends without a gap from the least finite value to the
// greatest, and both zeros are one level.
func TestEveryFloat32(t *testing.T) {
	l := Identity(Float32)
	if l.Value(0) != -math.MaxFloat32 || l.Value(l.Len()-1) != math.MaxFloat32 {
		t.Errorf("from %v to %v", l.Value(0), l.Value(l.Len()-1))
	}
	if a, b := l.Level(0), l.Level(float32(math.Copysign(0, -1))); a != b || l.Value(a) != 0 {
		t.Errorf("0 and −0 are levels %d and %d", a, b)
	}
	if l.Level(float32(math.Inf(-1))) != 0 || l.Level(float32(math.Inf(1))) != l.Len() {
		t.Error("an infinity is within")
	}
	for _, v := range []float32{-math.MaxFloat32, -1e10, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 1e-40, 1, 1 << 24, 1e30} {
		k, next := l.Level(v), math.Nextafter32(v, math.MaxFloat32)
		if l.Value(k) != v || k != int64(EveryLevel(v)) || l.Level(next) != k+1 || l.Value(k+1) != next {
			t.Errorf("%v is level %d, whose value is %v; the next one, %v, is level %d", v, k, l.Value(k), next, l.Level(next))
		}
	}
	if l.CheckIndexed() == nil || Identity(Uint16).CheckIndexed() != nil {
		t.Error("the levels of every float32 fit an int32, or those of uint16 do not")
	}
	if _, _, even := l.Affinity(); even {
		t.Error("evenly spaced")
	}
	var b bytes.Buffer
	var back Ladder
	if err := gob.NewEncoder(&b).Encode(l); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&b).Decode(&back); err != nil || back.Key() != l.Key() || back.Level(1) != l.Level(1) {
		t.Errorf("comes back as %v (%v)", back, err)
	}
}

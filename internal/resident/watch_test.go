package resident

import (
	"strings"
	"testing"

	"eccbench/internal/device"
)

// sensors show a clock that is lower each time.
type sensors struct{ clock int64 }

func (s *sensors) Read() device.Readings {
	s.clock -= 500
	missing := device.Reading{Missing: "no such sensor"}
	return device.Readings{Clock: device.Reading{Value: s.clock, Unit: "MHz"}, MemoryClock: missing, Temperature: missing, Power: missing, PowerLimit: missing}
}

func (*sensors) Close() error { return nil }

// A clock that moved between two readings is flagged, and the readings are kept.
func TestWatch(t *testing.T) {
	w := &Watch{sensors: &sensors{2500}}
	for i, want := range []struct{ flag, seen string }{{"", "clock 2000 MHz, memory n/a"}, {"clock 2000→1500 MHz", "clock 1500 MHz, memory n/a"}} {
		if flags := strings.Join(w.Flags(), " "); flags != want.flag {
			t.Errorf("look %d: flags %q, want %q", i, flags, want.flag)
		}
		if seen := w.Sensors()[0]; !strings.HasPrefix(seen, want.seen) {
			t.Errorf("look %d: %q, want %q", i, seen, want.seen)
		}
	}
}

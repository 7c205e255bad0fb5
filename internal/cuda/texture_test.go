package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"eccbench/internal/device"
)

// testTextures fetches every texel, and texels beyond the borders.
func testTextures(t *testing.T, dev device.Device) {
	real := dev.Info().Name[:4] != "Fake"
	for _, texel := range []device.Texel{device.Uint8, device.Int8, device.Uint16, device.Int16, device.Uint32, device.Int32, device.Float16, device.Float32} {
		for _, layout := range []device.ArrayLayout{{Width: 7, Height: 5}, {Width: 7, Height: 5, Depth: 3}} {
			for _, sampling := range []device.Sampling{{}, {Exterior: device.Border}, {Exterior: device.Border, Border: float32(math.Inf(1))}} {
				layout.Texel = texel
				if sampling.Border != 0 && !texel.Float() || texel == device.Float16 && !real {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%s%v", texel, layout.Depth, sampling.Exterior, sampling.Border), func(t *testing.T) {
					testTexture(t, dev, layout, sampling)
				})
			}
		}
	}
}

func testTexture(t *testing.T, dev device.Device, layout device.ArrayLayout, sampling device.Sampling) {
	s := newStream(t, dev, "main")
	a := must(dev.AllocArray("image", layout))(t)
	closeAtEnd(t, a)
	tex := must(a.NewTexture("fetch", sampling))(t)
	closeAtEnd(t, tex)

	// Bytes from 0x30 to 0xaf, so that there are negative integers and no NaN.
	in := make([]byte, layout.Bytes())
	for i := range in {
		in[i] = byte(0x30 + i*37%0x80)
		if layout.Texel.Float() {
			in[i] = byte(0x30 + i*37%0x40)
		}
	}
	count := layout.Depth
	if layout.Depth == 0 {
		count = layout.Height
	}
	slice := int64(len(in)) / count
	host := must(dev.AllocPinned("host", int64(len(in))+1))(t)
	closeAtEnd(t, host)
	copy(host.Data()[1:], in)
	buf := newBuffer(t, dev, "slice", slice)
	check(t, s.CopySlices(a, 0, 1, host, 1), s.Upload(buf, 0, in[slice:2*slice]), s.CopySlices(a, 1, 1, buf, 0), s.CopySlices(a, 2, count-2, host, 1+2*slice))

	w, h, d := layout.Width, layout.Height, layout.Depth
	name := "fetch3d_u"
	if layout.Texel.Float() {
		name = "fetch3d_f"
	}
	depth := d
	if d == 0 { // one plane, and none around it
		name, depth = "fetch2d"+name[7:], -1
	}
	n := (w + 2) * (h + 2) * (depth + 2)
	out := newBuffer(t, dev, "out", 4*n)
	f := kernel(t, dev, name)
	check(t, s.Launch(f, device.Launch{Grid: device.Dim{X: (n + 127) / 128}, Block: device.Dim{X: 128}}, tex, out, int32(w), int32(h), int32(depth)))
	got := make([]byte, 4*n)
	check(t, s.Download(got, out, 0))

	for i := range n {
		x, y, z := i%(w+2)-1, i/(w+2)%(h+2)-1, i/(w+2)/(h+2)-1
		if d == 0 {
			z = 0
		}
		cx, cy, cz := min(max(x, 0), w-1), min(max(y, 0), h-1), min(max(z, 0), max(1, layout.Depth)-1)
		want := word(layout.Texel, in[((cz*h+cy)*w+cx)*layout.Texel.Size():])
		if (cx != x || cy != y || cz != z) && sampling.Exterior == device.Border {
			want = 0
			if sampling.Border != 0 {
				want = math.Float32bits(sampling.Border)
			}
		}
		if v := binary.LittleEndian.Uint32(got[4*i:]); v != want {
			t.Fatalf("the texel at %d, %d, %d is %#x, want %#x", x, y, z, v, want)
		}
	}
}

// word returns the value that a kernel fetches from a texel.
func word(texel device.Texel, b []byte) uint32 {
	switch texel {
	case device.Uint8:
		return uint32(b[0])
	case device.Int8:
		return uint32(int8(b[0]))
	case device.Uint16:
		return uint32(binary.LittleEndian.Uint16(b))
	case device.Int16:
		return uint32(int16(binary.LittleEndian.Uint16(b)))
	case device.Float16: // normal and positive
		v := uint32(binary.LittleEndian.Uint16(b))
		return v<<13 + (127-15)<<23
	}
	return binary.LittleEndian.Uint32(b)
}

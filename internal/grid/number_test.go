package grid

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
)

func number(t *testing.T, text string) Number {
	t.Helper()
	n, err := ParseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A number compares with values of every type exactly as written, and reads back unchanged.
func TestNumber(t *testing.T) {
	const wide = 1<<53 + 1
	signed, err := NewLabels("int64", []int64{math.MinInt64, -wide, 0, wide, math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	unsigned, err := NewLabels("uint64", []uint64{0, wide, math.MaxUint64})
	if err != nil {
		t.Fatal(err)
	}
	floats, err := NewLabels("float64", []float64{0.1, 1 << 53, 1e300})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		labels *Labels
		value  float32
		text   string
		want   int
	}{
		{signed, Ranked(3), "9007199254740992", 1}, {signed, Ranked(3), "9007199254740993", 0}, {signed, Ranked(3), "9007199254740993.5", -1},
		{signed, Ranked(3), "9007199254740992.5", 1}, {signed, Ranked(1), "-9007199254740993", 0}, {signed, Ranked(1), "-9007199254740992.5", -1},
		{signed, Ranked(4), "9223372036854775807", 0}, {signed, Ranked(4), "9223372036854775808", -1}, {signed, Ranked(0), "-9.3e18", 1},
		{signed, Ranked(0), "-inf", 1}, {signed, Ranked(4), "inf", -1}, {signed, Ranked(2), "-0", 0}, {signed, Ranked(2), "0.3", -1},
		{unsigned, Ranked(2), "18446744073709551615", 0}, {unsigned, Ranked(2), "18446744073709551614", 1},
		{floats, Ranked(0), "0.1", 0}, {floats, Ranked(1), "9007199254740993", -1}, {floats, Ranked(1), "9.007199254740993e15", 0}, {floats, Ranked(2), "1e+300", 0}, {floats, Ranked(2), "1.1e+300", -1},
		{floats, Ranked(1), "9007199254740991", 1},
		{nil, 1 << 53, "9007199254740993", -1}, {nil, 1 << 53, "9.007199254740993e15", 0}, {nil, 1 << 53, "9.007199e15", 0}, {nil, 0.1, "0.1", 0}, {nil, 255, "254.9999999", 1}, {nil, -999915, "-999914.9999974668", -1},
		{nil, math.MaxFloat32, "3.4028235e38", 0}, {nil, float32(math.Inf(1)), "1e39", 1}, {nil, 0, "1e-60", -1},
		{nil, 1 << 53, "9007199254740992", 0}, {nil, 0.5, "0.5", 0}, {nil, 200, "1e999999999", 2},
		{nil, 0, "1e-999999999", 2}, {nil, 0, "-0.0e-9", 0}, {nil, 1 << 26, "67108863", 1}, {nil, 1 << 26, "67108865", -1},
		{nil, 1 << 26, "67108863.0", 1}, {nil, 1 << 26, "6.7108864e+07", 0}, {nil, 123456792, "1.2345679e+08", 0},
		{nil, 123456792, "1.23456791e8", 0}, {nil, 123456792, "123456790", 1}, {nil, 16777218, "16777217.5", 1},
		{nil, 5, "5.00000000000000000000001", -1}, {nil, 1, "0.99999999999999999999", 1}, {nil, 0.1, "0.100000001", 0},
		{nil, 3, "3.0000001", -1},
	} {
		n, err := ParseNumber(c.text)
		if (err != nil) != (c.want == 2) {
			t.Errorf("%s: %v", c.text, err)
		} else if err == nil {
			if got := c.labels.Compare(c.value, n); got != c.want {
				t.Errorf("%v beside %s is %d, want %d", c.labels, c.text, got, c.want)
			}
		}
	}
	if (*Labels)(nil).Compare(0.1, number(t, "0.1").Exact()) != 1 {
		t.Error("the exact number 0.1 is not below float32")
	}
	if floats.Compare(Ranked(1), number(t, "9007199254740993").Exact()) != -1 {
		t.Error("the exact number 2⁵³ + 1 is not above the float64 2⁵³")
	}
	for text, want := range map[string]string{
		"9007199254740993": "9007199254740993", "1e6": "1000000", "1152921504606847232": "1152921504606847232", "0.10": "0.1", "-2.50": "-2.5", "+3": "3",
		"9007199254740993.50": "9007199254740993.5", "1e300": "1e+300", "1.2345679e8": "1.2345679e+08",
		"1234567890123456789e0": "1234567890123456789e0", "123456790": "123456790", "1.5e-5": "1.5e-05", "1e-7": "1e-07", "18446744073709551617": "18446744073709551617",
	} {
		n := number(t, text)
		if got := n.String(); got != want || !reflect.DeepEqual(number(t, got), n) {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
		var back Number
		if b, err := json.Marshal(n); err != nil || json.Unmarshal(b, &back) != nil || back.Compare(n) != 0 {
			t.Errorf("%s is %s in JSON, %v", text, b, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		f := math.Ldexp(rng.Float64()-0.5, rng.IntN(140)-30)
		for _, format := range []byte("efg") {
			text := strconv.FormatFloat(f, format, rng.IntN(22)-1, 64)
			if n, err := ParseNumber(text); err == nil && !reflect.DeepEqual(number(t, n.String()), n) {
				t.Fatalf("%s is shown as %s, another number", text, n)
			}
		}
	}
	for _, text := range []string{"nan", "NaN", "", "x", "1,2", "1/2", "1 2", "40-100", "1_0", "0x1_0p0"} {
		if n, err := ParseNumber(text); err == nil {
			t.Errorf("%q is read as %v", text, n)
		}
	}
	if number(t, "9007199254740993").Compare(number(t, "9007199254740992")) != 1 || number(t, "1").Compare(number(t, "2")) != -1 {
		t.Error("numbers beyond float64 are compared as it")
	}
}

// Fields of equal ranks with different labels have different digests.
func TestDigestOfLabels(t *testing.T) {
	shape := Shape{1, 1, 2}
	ladder, err := Table([]float32{Ranked(0), Ranked(1)})
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewField(shape, Float32, Bytes([]float32{Ranked(0), Ranked(1)}), ladder)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]bool{}
	for _, values := range [][]float64{nil, {1, 2}, {1, 3}} {
		g := f
		if values != nil {
			labels, err := NewLabels("float64", values)
			if err != nil {
				t.Fatal(err)
			}
			g = f.Labelled(labels)
		}
		sum, err := NewDigester(g).Sum()
		if err != nil {
			t.Fatal(err)
		}
		sums[sum] = true
	}
	if len(sums) != 3 {
		t.Errorf("three images have %d digests", len(sums))
	}
}

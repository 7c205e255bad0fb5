package kernels_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device/devicetest"
	"eccbench/kernels"
)

// The machine code of a module has the same kernels as its PTX, and is for the requested device.
func TestMachineHasTheKernels(t *testing.T) {
	const cuda = 190 // the machine number of CUDA in ELF
	for capability, arch := range map[[2]int]uint32{{8, 0}: 80, {9, 0}: 90} {
		for _, name := range kernels.Names() {
			code, err := kernels.Machine(name, capability[0], capability[1])
			if err != nil || code == nil {
				t.Fatalf("%s for %v: %d bytes, %v", name, capability, len(code), err)
			}
			ptx, err := kernels.PTX(name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := kernels.Entries(name, ptx)
			if err != nil {
				t.Fatal(err)
			}
			got, err := devicetest.MachineEntries(name, code)
			slices.Sort(want)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s for %v has %v, %v, want %v", name, capability, got, err, want)
			}
			// The machine and the flags in the header of a 64-bit ELF file.
			if is, flags := binary.LittleEndian.Uint16(code[18:]), binary.LittleEndian.Uint32(code[48:]); is != cuda || flags&0xff != arch {
				t.Errorf("%s for %v is for machine %d, flags %#x", name, capability, is, flags)
			}
		}
	}
	for _, capability := range [][2]int{{7, 0}, {8, 6}, {8, 9}, {10, 0}, {0, 0}} {
		if code, err := kernels.Machine("ecc_tiled", capability[0], capability[1]); code != nil || err != nil {
			t.Errorf("machine code for %v: %d bytes, %v", capability, len(code), err)
		}
	}
	if _, err := kernels.Machine("ecc_none", 9, 0); err == nil || !strings.Contains(err.Error(), "ecc_none") {
		t.Errorf("machine code of kernels that do not exist: %v", err)
	}
	if _, err := devicetest.MachineEntries("m", []byte("no code")); err == nil {
		t.Error("a text was taken for machine code")
	}
}

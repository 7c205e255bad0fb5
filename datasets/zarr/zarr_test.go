package zarr

import (
	"archive/zip"
	"io/fs"
	"strings"
	"testing"
)

// FuzzBlosc decodes arbitrary bytes, and checks that the output does not exceed its limit.
func FuzzBlosc(f *testing.F) {
	fixtures, err := zip.OpenReader("../files/testdata/files/zarr.zip")
	if err != nil {
		f.Fatal(err)
	}
	defer fixtures.Close() // only read from
	for _, member := range fixtures.File {
		if strings.Contains(member.Name, "blosc") && strings.HasSuffix(member.Name, "0.0.0") {
			data, err := fs.ReadFile(fixtures, member.Name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	z, err := zstdChunks()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 1 << 20
		if out, err := unblosc(nil, data, most, z); err == nil && len(out) > most {
			t.Fatalf("%d bytes", len(out))
		}
	})
}

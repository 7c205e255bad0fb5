package remote

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"eccbench/datasets"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// A fragile server fails in every way that passes.
type fragile struct {
	http.Handler
	requests, bytes atomic.Int64
	fail            func(n int64, w http.ResponseWriter, r *http.Request) bool
}

func (f *fragile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := f.requests.Add(1)
	if f.fail != nil && f.fail(n, w, r) {
		return
	}
	f.Handler.ServeHTTP(&counted{w, &f.bytes}, r)
}

type counted struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// serve starts an S3 server with objects in a bucket, and sets the environment to its address.
func serve(t *testing.T, objects map[string][]byte) *fragile {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("scans"); err != nil {
		t.Fatal(err)
	}
	for key, data := range objects {
		if _, err := backend.PutObject("scans", key, map[string]string{"Last-Modified": "Mon, 2 Jan 2006 15:04:05 GMT"}, bytes.NewReader(data), int64(len(data)), nil); err != nil {
			t.Fatal(err)
		}
	}
	f := &fragile{Handler: gofakes3.New(backend).Server()}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	for key, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "two",
		"AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": "/none", "AWS_SHARED_CREDENTIALS_FILE": "/none",
	} {
		t.Setenv(key, value)
	}
	storage.Servers = &network{wait: time.Millisecond}
	t.Cleanup(func() { storage.Servers = nil })
	return f
}

// served are files by plain HTTP.
func served(t *testing.T, objects map[string][]byte) (address string, f *fragile) {
	t.Helper()
	f = &fragile{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := objects[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, len(data)))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	storage.Servers = &network{wait: time.Millisecond}
	t.Cleanup(func() { storage.Servers = nil })
	return server.URL, f
}

// image returns the data of the test: 8 slices of 300×400, raw.
func image() []byte {
	data := make([]byte, 8*300*400)
	for i := range data {
		data[i] = byte(i * i / 977)
	}
	return data
}

func npy(data []byte) []byte {
	head := "{'descr': '|u1', 'fortran_order': False, 'shape': (8, 300, 400), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	return append([]byte("\x93NUMPY\x01\x00v\x00"+head), data...)
}

func zarrOf(data []byte) map[string][]byte {
	objects := map[string][]byte{"scan.zarr/zarr.json": []byte(`{"zarr_format":3,"node_type":"array","shape":[8,300,400],"data_type":"uint8","fill_value":0,
		"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[3,300,400]}},"chunk_key_encoding":{"name":"default"},"codecs":[{"name":"bytes"}]}`)}
	for k := range 3 {
		chunk := make([]byte, 3*300*400)
		copy(chunk, data[k*len(chunk):])
		objects[fmt.Sprintf("scan.zarr/c/%d/0/0", k)] = chunk
	}
	return objects
}

func checkImage(t *testing.T, name string, want []byte) {
	t.Helper()
	s, err := datasets.Open(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer grid.Close(s)
	var wg sync.WaitGroup
	for lo := range s.Shape().Slices() {
		wg.Go(func() {
			got := grid.NewBuffer(grid.SliceBytes(s))
			if err := s.ReadSlab(got, lo, lo+1); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !bytes.Equal(got, want[lo*grid.SliceBytes(s):][:len(got)]) {
				t.Errorf("%s: slice %d differs", name, lo)
			}
		})
	}
	wg.Wait()
}

// Raw and npy files and Zarr arrays are read from S3 and HTTP servers, also if answers fail, stop
// in the middle or are late.
func TestImages(t *testing.T) {
	data := image()
	objects := zarrOf(data)
	objects["scan.raw"], objects["scan.npy"] = data, npy(data)
	for key, object := range zarrOf(data) {
		objects[strings.TrimPrefix(key, "scan.zarr/")] = object
	}
	for _, server := range []string{"s3", "http"} {
		for what, fail := range map[string]func(n int64, w http.ResponseWriter, r *http.Request) bool{
			"sound": nil,
			"unavailable": func(n int64, w http.ResponseWriter, _ *http.Request) bool {
				if n%2 == 1 {
					http.Error(w, "later", http.StatusServiceUnavailable)
				}
				return n%2 == 1
			},
			"torn": func(n int64, w http.ResponseWriter, r *http.Request) bool {
				if n%3 != 1 || r.Method != http.MethodGet {
					return false
				}
				var first, last int
				status := http.StatusOK
				if fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); last > 0 {
					status = http.StatusPartialContent
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/*", first, last))
				}
				w.Header().Set("ETag", r.Header.Get("If-Match"))
				w.Header().Set("Content-Length", strconv.Itoa(last-first+1))
				w.WriteHeader(status)
				io.WriteString(w, "") // no data arrives
				return true
			},
		} {
			var base string
			if server == "s3" {
				serve(t, objects).fail = fail
				base = "s3://scans"
			} else {
				address, f := served(t, objects)
				f.fail, base = fail, address
			}
			t.Run(server+" "+what, func(t *testing.T) {
				checkImage(t, "file/shape=400x300x8/type=uint8/path="+base+"/scan.raw", data)
				checkImage(t, "file/path="+base+"/scan.npy", data)
				checkImage(t, "file/stream=false/path="+base+"/scan.npy", data)
				checkImage(t, "file/path="+base+"/scan.zarr", data)
				checkImage(t, "file/path="+base, data)
			})
		}
	}
}

// The key of s3://bucket/key is taken as it is written: no character of it leads to another object. Those of HTTP
// are parts of URLs. Objects of a Zarr group are requested by their names on both.
func TestKeys(t *testing.T) {
	data := image()
	other := npy(make([]byte, len(data)))
	objects := map[string][]byte{"p": other, "rA.npy": other, "q": other}
	s3 := []string{"p#1.npy", "r%41.npy", "q?x.npy", "100%.npy", "%3F.npy", "#", "?", "u:v@w", "a//b/../c.npy", "ü &=+;.npy"}
	for _, key := range s3 {
		objects[key] = npy(data)
	}
	objects["g#.zarr/.zgroup"] = []byte(`{"zarr_format":2}`)
	arrays := []string{"a#1", "a%41", "a?1", "ü b"}
	for _, array := range arrays {
		for key, object := range zarrOf(data) {
			objects["g#.zarr/"+array+strings.TrimPrefix(key, "scan.zarr")] = object
		}
	}
	serve(t, objects)
	for _, key := range s3 {
		checkImage(t, "file/path=s3://scans/"+key, data)
	}
	for _, array := range arrays {
		checkImage(t, "file/array="+array+"/path=S3://scans/g#.zarr", data)
	}
	address, _ := served(t, objects)
	for _, path := range []string{"p%231.npy", "r%2541.npy", "q%3Fx.npy", "q%3fx.npy"} {
		checkImage(t, "file/path="+strings.Replace(address, "http", "HTTP", 1)+"/"+path, data)
	}
	for _, array := range arrays {
		checkImage(t, "file/array="+array+"/path="+address+"/g%23.zarr/", data)
	}
	for path, want := range map[string]string{"p#1.npy": "write # in a name as %23", "100%.npy": "write % in a name as %25"} {
		if _, err := datasets.Open("file/path=" + address + "/" + path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// A server that denies missing objects, as S3 does without the right to list, has Zarr arrays of both versions. An
// error names the denied metadata. Without such an answer to zarr.json, denied attributes are an error.
func TestDeniedMetadata(t *testing.T) {
	data := image()
	const v2 = `{"zarr_format":2,"shape":[8,300,400],"chunks":[8,300,400],"dtype":"|u1","compressor":null,"filters":null,"fill_value":0,"order":"C"}`
	objects := zarrOf(data)
	objects["two.zarr/.zarray"], objects["two.zarr/0.0.0"] = []byte(v2), data
	objects["attributes.zarr/.zarray"], objects["attributes.zarr/.zattrs"] = []byte(v2), []byte(`{"_ARRAY_DIMENSIONS":["z","y","t"]}`)
	objects["group.zarr/.zgroup"], objects["group.zarr/a/.zarray"], objects["group.zarr/a/0.0.0"] = []byte("{}"), []byte(v2), data
	address, f := served(t, objects)
	missing, denied := http.StatusForbidden, ""
	f.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		key := strings.TrimPrefix(r.URL.Path, "/")
		switch {
		case denied != "" && strings.HasSuffix(key, denied):
			w.WriteHeader(http.StatusForbidden)
			return true
		case objects[key] == nil:
			w.WriteHeader(missing)
			return true
		}
		return false
	}
	for _, name := range []string{"path=" + address + "/scan.zarr", "path=" + address + "/two.zarr", "array=a/path=" + address + "/group.zarr"} {
		checkImage(t, "file/"+name, data)
	}
	for _, c := range []struct {
		path, denied string
		missing      int
		want         string
	}{
		{"none.zarr", "", http.StatusForbidden, "zarr.json, .zarray, .zgroup: the server answers 403, Forbidden; check the path and the credentials"},
		{"two.zarr", ".zarray", http.StatusNotFound, ".zarray: the server answers 403, Forbidden; check the path and the credentials"},
		{"two.zarr", ".zattrs", http.StatusNotFound, ".zattrs: the server answers 403, Forbidden; check the path and the credentials"},
		{"two.zarr", "0.0.0", http.StatusForbidden, "chunk 0.0.0: the server answers 403, Forbidden"},
		{"attributes.zarr", "", http.StatusForbidden, `its axis "t" comes after those of space; want those last`},
		{"none.zarr", "", http.StatusNotFound, "no Zarr array or group: it has no zarr.json, .zarray or .zgroup; check the path"},
	} {
		missing, denied = c.missing, c.denied
		s, err := datasets.Open("file/path=" + address + "/" + c.path)
		if err == nil {
			err = s.ReadSlab(grid.NewBuffer(grid.TotalBytes(s)), 0, s.Shape().Slices())
		}
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s without %q: %v, want %q", c.path, c.denied, err, c.want)
		}
	}
}

// The error of a server explains those of decoders: an image is not damaged because it was not read.
func TestWordsOfServers(t *testing.T) {
	data := image()
	packed := func(open func(w io.Writer) io.WriteCloser, data []byte) []byte {
		var b bytes.Buffer
		w := open(&b)
		w.Write(data)
		w.Close()
		return b.Bytes()
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	member, err := z.Create("a.npy")
	if err != nil {
		t.Fatal(err)
	}
	member.Write(npy(data))
	z.Close()
	objects := zarrOf(data)
	objects["a.npy"], objects["a.npz"] = npy(data), archive.Bytes()
	objects["a.npy.gz"] = packed(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, npy(data))
	coded := `the server sends it compressed, although asked not to (Content-Encoding: "gzip"); download it`
	const whole, cut = "the server reads no parts of it, only the whole; download it", "the connection ended before the answer was complete; tried 6 times"
	for _, c := range []struct{ server, path, want string }{
		{"coded", "a.npy", coded}, {"coded", "a.npz", coded}, {"coded", "scan.zarr", "zarr.json: " + coded}, {"coded", "a.npy.gz", ""},
		{"whole", "a.npy", whole}, {"whole", "a.npz", whole}, {"whole", "a.npy.gz", whole},
		{"cut", "a.npy", cut}, {"cut", "a.npz", cut}, {"cut", "a.npy.gz", cut}, {"cut", "scan.zarr", "zarr.json: " + cut},
	} {
		address, f := served(t, objects)
		f.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("a request that accepts %q", r.Header.Get("Accept-Encoding"))
			}
			object := objects[r.URL.Path[1:]]
			first, last := 0, len(object)-1
			if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n > 0 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(object)))
			}
			switch {
			case object == nil || r.Method == http.MethodHead && c.server != "coded":
			case c.server == "coded":
				w.Header().Set("Content-Encoding", "gzip")
				w.Header().Set("Content-Length", strconv.Itoa(last-first+1)) // ServeContent leaves it out
			case c.server == "whole":
				w.Header().Del("Content-Range")
				w.Write(object)
				return true
			default:
				w.Header().Set("Content-Length", strconv.Itoa(last-first+1))
				w.Header().Set("ETag", r.Header.Get("If-Match"))
				w.WriteHeader(map[bool]int{true: http.StatusPartialContent, false: http.StatusOK}[w.Header().Get("Content-Range") != ""])
				return true // no data arrives
			}
			return false
		}
		name := "file/path=" + address + "/" + c.path
		if c.want == "" {
			checkImage(t, name, data)
		} else if _, err := datasets.Open(name); err == nil || err.Error() != address+"/"+c.path+": "+c.want {
			t.Errorf("%s %s: %v, want %q", c.server, c.path, err, c.want)
		}
	}
}

// A part of an image is read by its ranges alone.
func TestRanges(t *testing.T) {
	data := image()
	objects := zarrOf(data)
	objects["scan.raw"] = data
	f := serve(t, objects)
	for name, most := range map[string]int64{"file/shape=400x300x8/type=uint8/path=s3://scans/scan.raw": 120_000, "file/path=s3://scans/scan.zarr": 361_000} {
		s, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f.bytes.Store(0)
		got := grid.NewBuffer(grid.SliceBytes(s))
		if err := s.ReadSlab(got, 5, 6); err != nil {
			t.Fatal(err)
		}
		if n := f.bytes.Load(); !bytes.Equal(got, data[5*120_000:][:120_000]) || n > max(most, 1<<20) {
			t.Errorf("%s: a slice took %d bytes", name, n)
		}
	}
}

// A lasting error is reported at once, in one line; a temporary one after some retries.
func TestErrors(t *testing.T) {
	data := image()
	f := serve(t, map[string][]byte{"scan.raw": data})
	raw := "file/shape=400x300x8/type=uint8/path="
	check := func(name, want string, most int64) {
		t.Helper()
		f.requests.Store(0)
		s, err := datasets.Open(name)
		if err == nil {
			err = s.ReadSlab(grid.NewBuffer(grid.TotalBytes(s)), 0, s.Shape().Slices())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if n := f.requests.Load(); n > most {
			t.Errorf("%s: %d requests, want at most %d", name, n, most)
		}
	}
	check(raw+"s3://scans/none.raw", "no such object; check the URL", 2)
	check(raw+"s3://none/none.raw", "no such object; check the URL", 2)
	check("file/path=s3://scans/none.zarr", "no Zarr array or group", 10)
	check("file/shape=400x300x9/type=uint8/path=s3://scans/scan.raw", "the file has 960000 bytes", 2)
	check(raw+"s3:///scan.raw", "no URL of an object; want such as s3://bucket/key", 0)
	check(raw+"s3://scans", "no URL of an object", 3) // an array may be the whole bucket
	check(raw+"s3://scans/", "no URL of an object", 3)
	for _, bucket := range []string{"s3://scans", "s3://scans/"} {
		f.requests.Store(0)
		_, _, err := storage.Servers.Get(bucket, 1000, nil, storage.FileInfo{})
		if err == nil || !strings.Contains(err.Error(), "no URL of an object") || f.requests.Load() > 0 {
			t.Errorf("%s: %v after %d requests", bucket, err, f.requests.Load())
		}
	}
	f.fail = func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "never", http.StatusServiceUnavailable)
		return true
	}
	check(raw+"s3://scans/scan.raw", fmt.Sprintf("tried %d times", attempts), attempts+1)
	f.fail = func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	check(raw+"s3://scans/scan.raw", "the server answers 403, Forbidden", 2)
	f.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-Amz-Bucket-Region", "x.example/") // would be a part of the host
		http.Redirect(w, r, "/scans/scan.raw?other", http.StatusTemporaryRedirect)
		return r.URL.RawQuery == ""
	}
	check(raw+"s3://scans/scan.raw", "the server answers 307, Temporary Redirect", 1)
	for _, endpoint := range []string{"minio://host:9000", "http://[::1", "host"} {
		t.Setenv("AWS_ENDPOINT_URL", endpoint)
		storage.Servers = &network{wait: time.Hour} // before a second try
		check(raw+"s3://scans/scan.raw", "AWS_ENDPOINT_URL (or AWS_ENDPOINT_URL_S3) is no http or https URL; want such as https://host:9000", 0)
	}

	address, g := served(t, map[string][]byte{"scan.raw": data})
	s, err := datasets.Open(raw + address + "/scan.raw")
	if err != nil {
		t.Fatal(err)
	}
	g.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("If-Match") == "" {
			t.Error("a range is read of any version")
		}
		w.WriteHeader(http.StatusPreconditionFailed)
		return true
	}
	if err := s.ReadSlab(grid.NewBuffer(grid.TotalBytes(s)), 0, 8); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a changed object: %v", err)
	}
	g.fail = func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Write(data) // the whole, for any request
		return true
	}
	if err := s.ReadSlab(grid.NewBuffer(grid.TotalBytes(s)), 0, 8); err == nil || !strings.Contains(err.Error(), "reads no parts") {
		t.Errorf("a server without ranges: %v", err)
	}

	// The files are requested before an image is opened, so a failing server is tried once.
	g.requests.Store(0)
	name := raw + address + "/scan.raw"
	if list := datasets.Files(name); len(list) != 1 || list[0] != address+"/scan.raw" || g.requests.Load() > 0 {
		t.Errorf("files of %s: %q, after %d requests", name, list, g.requests.Load())
	}

	// No object takes more memory than it may.
	n := &network{wait: time.Millisecond}
	g.fail = nil
	if _, _, err := n.Get(address+"/scan.raw", 1000, nil, storage.FileInfo{}); err == nil || !strings.Contains(err.Error(), "more than the 1000 bytes") {
		t.Errorf("a long object: %v", err)
	}
	if _, _, err := n.Get(address+"/none", 1000, nil, storage.FileInfo{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no object: %v", err)
	}
	if Register(0); log.Writer() != io.Discard {
		t.Error("net/http writes to standard error")
	}
	storage.Servers = nil
	if _, err := datasets.Open(raw + "s3://scans/scan.raw"); err == nil || !strings.Contains(err.Error(), "this program does not read") {
		t.Errorf("without a network: %v", err)
	}
}

// signedBy returns the region and the signature of a request, and the signature that it should have
// (AWS Signature Version 4).
func signedBy(r *http.Request, secret string) (region, got, want string) {
	said := r.Header.Get("Authorization")
	field := func(name string) string {
		_, after, _ := strings.Cut(said, name+"=")
		value, _, _ := strings.Cut(after, ",")
		return value
	}
	scope := strings.Split(field("Credential"), "/")
	if len(scope) != 5 {
		return "", said, "a credential of five parts"
	}
	lines := r.Method + "\n" + r.URL.EscapedPath() + "\n" + r.URL.RawQuery + "\n"
	for _, name := range strings.Split(field("SignedHeaders"), ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		lines += name + ":" + value + "\n"
	}
	lines += "\n" + field("SignedHeaders") + "\n" + r.Header.Get("X-Amz-Content-Sha256")
	key := []byte("AWS4" + secret)
	mac := func(text string) {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		key = h.Sum(nil)
	}
	for _, part := range scope[1:] {
		mac(part)
	}
	mac(fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), sha256.Sum256([]byte(lines))))
	return scope[2], field("Signature"), hex.EncodeToString(key)
}

// The signatures are those of AWS's documentation ("Examples: Signature Calculations").
func TestSignatureExamples(t *testing.T) {
	for at, want := range map[string]string{
		"test.txt":             "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		"?lifecycle=":          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		"?max-keys=2&prefix=J": "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
	} {
		r := httptest.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com/"+at, nil)
		names := "host;x-amz-content-sha256;x-amz-date"
		if at == "test.txt" {
			r.Header.Set("Range", "bytes=0-9")
			names = "host;range;x-amz-content-sha256;x-amz-date"
		}
		r.Header.Set("X-Amz-Date", "20130524T000000Z")
		r.Header.Set("X-Amz-Content-Sha256", emptyHash)
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"+
			"SignedHeaders="+names+",Signature="+want)
		if _, got, computed := signedBy(r, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"); got != want || computed != want {
			t.Errorf("%s: %s, want %s", at, computed, want)
		}
	}
}

// emptyHash is the SHA-256 of nothing, as requests without a body have it.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// An error repeats the code and the message of an S3 server in one short line, without control characters and without
// the secrets that a server may repeat. Its first request, which has no answer's body, is followed by one that has.
func TestReasons(t *testing.T) {
	const token = "FwoGZXIvYXdzEBYaDPthree+/three=="
	status, text := http.StatusForbidden, ""
	f := serve(t, nil)
	t.Setenv("AWS_SESSION_TOKEN", token)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
	f.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		_, signature, _ := signedBy(r, "")
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(text, "SIGNATURE", signature))
		return true
	}
	forget(t, "")
	full := []string{strings.Replace(os.Getenv("AWS_ENDPOINT_URL"), "://", "://ann:p=ss@", 1) + "/a.raw?sig=%C3%BC%C3%BC&p=cr3/t%3D&b&name=p%3D"}
	if err := Conceal(full); err != nil {
		t.Fatal(err)
	}
	web, s3 := full[0], "s3://scans/a.raw"
	message := func(text string) string { return "<Error><Code>A</Code><Message>" + text + "</Message></Error>" }
	for _, c := range []struct{ at, text, want string }{
		{s3, message("The provided\n token has expired."), "A: The provided token has expired"},
		{web, "\ufeff" + `<?xml version="1.0" encoding="utf-8"?>` + "\n" + message("Request has expired"), "A: Request has expired"},
		{s3, message("it&#39;s &#x202e;\u009b1m&#13;late"), "A: it's 1m late"},
		{s3, message("the token " + token), "A"},
		{s3, message("the token FwoGZXIvYXdzEBYaDPthree%2B"), "A"},
		{s3, message("the key AKIAIOSFODNN7EXAMPLE"), "A"},
		{s3, message("not SIGNATURE"), "A"},
		{web, message("not cr3/t"), "A"},
		{web, message("not üü"), "A"},
		{web, message("not %C3%BC%C3%BC"), "A"},
		{web, message("not Basic YW5uOnA9c3M="), "A"},
		{web, message("not p=ss"), "Forbidden"},
		{web, message("p= is not valid"), "A: p= is not valid"},
		{web, "<Error><Code>Not-p=ss</Code><Message>b</Message></Error>", "Forbidden"},
		{web, "<Error><Code>Not-cr3</Code><Message>b</Message></Error>", "Forbidden"},
		{s3, "<Error><Code>SignatureDoesNotMatch</Code><Message>Signature, Credential</Message></Error>",
			"SignatureDoesNotMatch: Signature, Credential"},
		{s3, message("an ESC \x1b"), "A"},
		{s3, "<Error><Code>A</Code><StringToSign>b</StringToSign></Error>", "A"},
		{s3, message(strings.Repeat("é ", 999)), "A: " + strings.Repeat("é ", 98) + "é"},
		{s3, message(strings.Repeat("é ", 9999)), "A"},
		{web, "<html><Code>A</Code></html>", "Forbidden"},
		{web, "<Error><Message>b</Message></Error>", "Forbidden"},
		{s3, "", "Forbidden"},
	} {
		text = c.text
		f.requests.Store(0)
		_, _, err := (&network{wait: time.Hour}).Stat(c.at)
		if want := "the server answers 403, " + c.want; err == nil || err.Error() != want || f.requests.Load() != 2 {
			t.Errorf("%s with %.80q: %q after %d requests, want %q", c.at, text, err, f.requests.Load(), want)
		}
	}
	status, text = http.StatusBadRequest, message("The token has expired")
	if _, _, err := (&network{wait: time.Hour}).Stat(s3); err == nil || err.Error() != "the server answers 400, A: The token has expired" {
		t.Errorf("of a status that may be of another region: %v", err)
	}
}

// Requests are signed for the region that the server reports. Keys are encoded as they are signed, and
// nobody's requests are not signed.
func TestSigned(t *testing.T) {
	const key = "a scan+1/tomo ü~(2)#3?%41.raw"
	data := image()
	f := serve(t, map[string][]byte{key: data})
	t.Setenv("AWS_SESSION_TOKEN", "three")
	var elsewhere atomic.Int64
	inHeader := true
	f.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		region, got, want := signedBy(r, "two")
		if got != want {
			t.Errorf("%s %s: signature %s, want %s", r.Method, r.URL.EscapedPath(), got, want)
		}
		if r.Header.Get("X-Amz-Security-Token") != "three" {
			t.Error("no session token")
		}
		if got := r.Header.Get("X-Amz-Content-Sha256"); got != emptyHash {
			t.Errorf("the payload's hash is %q, want %s", got, emptyHash)
		}
		if region != "eu-central-1" {
			elsewhere.Add(1)
			if inHeader {
				w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
			}
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-central-1</Region></Error>")
		}
		return region != "eu-central-1"
	}
	name := "file/shape=400x300x8/type=uint8/path=s3://scans/" + key
	checkImage(t, name, data)
	if n := elsewhere.Load(); n != 1 {
		t.Errorf("%d requests to the region of the environment, want the first", n)
	}
	inHeader = false
	storage.Servers = &network{wait: time.Millisecond}
	checkImage(t, name, data)
	if n := elsewhere.Load(); n != 3 {
		t.Errorf("%d requests to the region of the environment, want the first and one for the location", n-1)
	}
	f.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			t.Error("signed without credentials")
		}
		return false
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	storage.Servers = &network{wait: time.Millisecond}
	checkImage(t, name, data)
}

// Buckets of Amazon have hosts of their own, unless their names have dots.
func TestHosts(t *testing.T) {
	for _, c := range []struct{ endpoint, region, at, want string }{
		{"", "", "s3://scans/a/b.raw", "https://scans.s3.dualstack.us-east-1.amazonaws.com/a/b.raw"},
		{"", "cn-north-1", "s3://scans/b.raw", "https://scans.s3.dualstack.cn-north-1.amazonaws.com.cn/b.raw"},
		{"", "eu-west-1", "s3://my.scans/b.raw", "https://s3.dualstack.eu-west-1.amazonaws.com/my.scans/b.raw"},
		{"http://u:p@host:9000/s3/", "", "s3://scans/b.raw", "http://host:9000/s3/scans/b.raw"},
		{"HTTP://host:80", "", "s3://scans/b.raw", "http://host/scans/b.raw"},
		{"http://[::1]:80", "", "s3://scans/b.raw", "http://[::1]/scans/b.raw"},
		{"http://host:443", "", "s3://scans/b.raw", "http://host:443/scans/b.raw"},
		{"https://host:443", "", "s3://scans/b.raw", "https://host/scans/b.raw"},
		{"https://host:80", "", "s3://scans/b.raw", "https://host:80/scans/b.raw"},
		{"https://host:", "", "s3://scans/b.raw", "https://host/scans/b.raw"},
		{"https://s3.amazonaws.com:443", "", "s3://scans/b.raw", "https://scans.s3.dualstack.us-east-1.amazonaws.com/b.raw"},
	} {
		for key, value := range map[string]string{"AWS_ENDPOINT_URL": c.endpoint, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": c.region,
			"AWS_DEFAULT_REGION": "", "AWS_ACCESS_KEY_ID": "", "AWS_SHARED_CREDENTIALS_FILE": "/none"} {
			t.Setenv(key, value)
		}
		of, err := newS3()
		if err != nil {
			t.Fatal(err)
		}
		to := of.(web).client.Transport.(*s3)
		var got string
		to.RoundTripper = roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return nil, errors.New("no network")
		})
		at, _ := url.Parse(c.at)
		if _, _, err := of.stat(t.Context(), at); err == nil || got != c.want {
			t.Errorf("%s at %q in %q: %s, %v, want %s", c.at, c.endpoint, c.region, got, err, c.want)
		}
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// An answer is a server's status and header for a range of an object of 960,000 bytes.
type answer struct {
	status    int
	tag, time string // none where empty
	short     int    // bytes that are not sent
}

// Every answer is compared with the first. A server that ignores If-Match, or sends another range,
// gives no image.
func TestAnswersOfAnotherObject(t *testing.T) {
	data := image()
	const tag, then, later = `"v1"`, "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:04:06 GMT"
	ranged := func(by, total string) func(lo, hi int) string {
		return func(lo, hi int) string {
			shift := map[string]int{"": 0, "1": 1}[by]
			return fmt.Sprintf("bytes %d-%d/%s", lo+shift, hi+shift, total)
		}
	}
	right := ranged("", "960000")
	for what, c := range map[string]struct {
		first, next answer
		ranged      func(lo, hi int) string
		want        string // of the error; "" for none
	}{
		"right":                       {answer{tag: tag, time: then}, answer{tag: tag, time: then}, right, ""},
		"of unknown length":           {answer{tag: tag}, answer{tag: tag}, ranged("", "*"), ""},
		"without versions":            {answer{}, answer{}, right, ""},
		"by its time alone":           {answer{time: then}, answer{time: then}, right, ""},
		"a tag that is weak later":    {answer{tag: tag}, answer{tag: "W/" + tag}, right, ""},
		"another tag":                 {answer{tag: tag}, answer{tag: `"v2"`}, right, "it changed while it was read"},
		"another weak tag":            {answer{tag: `W/"v1"`}, answer{tag: `W/"v2"`}, right, "it changed while it was read"},
		"another tag, one time":       {answer{tag: tag, time: then}, answer{tag: `"v2"`, time: then}, right, "it changed while it was read"},
		"one tag, another time":       {answer{tag: tag, time: then}, answer{tag: tag, time: later}, right, "it changed while it was read"},
		"another time":                {answer{time: then}, answer{time: later}, right, "it changed while it was read"},
		"no version any more":         {answer{tag: tag}, answer{}, right, "does not give the version"},
		"another length":              {answer{tag: tag}, answer{tag: tag}, ranged("", "960001"), "it changed while it was read"},
		"another length, unversioned": {answer{}, answer{}, ranged("", "960001"), "it changed while it was read"},
		"another place":               {answer{tag: tag}, answer{tag: tag}, ranged("1", "960000"), "another part of it than was asked for"},
		"from the beginning":          {answer{tag: tag}, answer{tag: tag}, func(lo, hi int) string { return fmt.Sprintf("bytes 0-%d/960000", hi-lo) }, "another part of it than was asked for"},
		"a shorter range":             {answer{tag: tag}, answer{tag: tag, short: 1}, right, "another part of it than was asked for"},
		"no place":                    {answer{tag: tag}, answer{tag: tag}, func(int, int) string { return "" }, "no Content-Range"},
		"an odd place":                {answer{tag: tag}, answer{tag: tag}, func(int, int) string { return "lines 1-2/3" }, "another part of it than was asked for"},
		"an odd length":               {answer{tag: tag}, answer{tag: tag}, ranged("", "many"), "another part of it than was asked for"},
		"the whole":                   {answer{tag: tag}, answer{status: http.StatusOK, tag: tag}, func(int, int) string { return "" }, "reads no parts"},
	} {
		t.Run(what, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				says := c.first
				lo, hi := 0, len(data)-1
				if r.Method == http.MethodGet {
					says = c.next
					if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &lo, &hi); n != 2 {
						t.Errorf("a request of range %q", r.Header.Get("Range"))
					}
				}
				for key, value := range map[string]string{"ETag": says.tag, "Last-Modified": says.time} {
					if value != "" {
						w.Header().Set(key, value)
					}
				}
				if r.Method == http.MethodHead {
					w.Header().Set("Content-Length", fmt.Sprint(len(data)))
					return
				}
				// The upper half is of the next version, the lower one of the first.
				if lo < 480_000 {
					for key, value := range map[string]string{"ETag": c.first.tag, "Last-Modified": c.first.time} {
						if w.Header().Del(key); value != "" {
							w.Header().Set(key, value)
						}
					}
					w.Header().Set("Content-Range", right(lo, hi))
					w.WriteHeader(http.StatusPartialContent)
					w.Write(data[lo : hi+1])
					return
				}
				if said := c.ranged(lo, hi); said != "" {
					w.Header().Set("Content-Range", said)
				}
				if says.status == 0 {
					says.status = http.StatusPartialContent
				}
				w.Header().Set("Content-Length", fmt.Sprint(hi+1-lo-says.short))
				w.WriteHeader(says.status)
				w.Write(data[lo : hi+1-says.short])
			}))
			defer server.Close()
			storage.Servers = &network{wait: time.Millisecond}
			defer func() { storage.Servers = nil }()
			s, err := datasets.Open("file/shape=400x300x8/type=uint8/path=" + server.URL + "/scan.raw")
			if err != nil {
				t.Fatal(err)
			}
			got := grid.NewBuffer(grid.TotalBytes(s) / 2)
			if err := s.ReadSlab(got, 0, 4); err != nil {
				t.Fatalf("the first half: %v", err)
			}
			unversioned := strings.Contains(grid.Missing(s), "names no version")
			if want := c.first.tag == "" && c.first.time == ""; unversioned != want {
				t.Errorf("%q is told of a server that names a version: %v", grid.Missing(s), !want)
			}
			err = s.ReadSlab(got, 4, 8)
			if c.want == "" {
				whole, err := datasets.Open("file/shape=400x300x8/type=uint8/stream=false/path=" + server.URL + "/scan.raw")
				if err != nil || strings.Contains(grid.Missing(whole), "names no version") != unversioned {
					t.Errorf("in memory: %v", err)
				}
			}
			switch {
			case c.want == "":
				if err != nil || string(got) != string(data[len(got):]) {
					t.Errorf("the second half: %v", err)
				}
			case err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
				t.Errorf("the second half: %v, want %q", err, c.want)
			case strings.Contains(c.want, "changed") != errors.Is(err, storage.ErrChanged):
				t.Errorf("%v changed: %v", err, errors.Is(err, storage.ErrChanged))
			}
		})
	}
}

// An S3 object that changes is an error also where the server does not care for If-Match.
func TestS3ObjectsThatChange(t *testing.T) {
	data := image()
	f := serve(t, map[string][]byte{"scan.raw": data})
	s, err := datasets.Open("file/shape=400x300x8/type=uint8/path=s3://scans/scan.raw")
	if err != nil {
		t.Fatal(err)
	}
	other, forged := `"00000000000000000000000000000000"`, ""
	f.fail = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("If-Match")
		var lo, hi int
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &lo, &hi)
		w.Header().Set("ETag", other)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		if forged == "" {
			forged = fmt.Sprintf("bytes %d-%d/960000", lo, hi)
		}
		w.Header().Set("Content-Range", forged)
		w.Header().Set("Content-Length", fmt.Sprint(hi+1-lo))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(data[lo : hi+1])
		return true
	}
	read := func() error { return s.ReadSlab(grid.NewBuffer(grid.TotalBytes(s)), 0, 8) }
	if err := read(); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("another ETag: %v", err)
	}
	other, forged = "", "bytes 1-960000/960001"
	if err := read(); err == nil || !strings.Contains(err.Error(), "another part of it") {
		t.Errorf("another range: %v", err)
	}
}

// A part in answer to a request for the whole is an error. The index and the chunks of a shard are
// of one object.
func TestPartsUnasked(t *testing.T) {
	tag := `"1"`
	partial := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		if partial {
			w.Header().Set("Content-Range", "bytes 0-2/9")
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte("abc"))
			return
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("abcdefghi"))
	}))
	defer server.Close()
	n := &network{wait: time.Millisecond}
	data, is, err := n.Get(server.URL, 9, nil, storage.FileInfo{})
	if err != nil || string(data) != "abcdefghi" || is.Size != 9 {
		t.Errorf("%q %v %v", data, is, err)
	}
	got := make([]byte, 3)
	if is, err = n.Range(server.URL, got, -3, storage.FileInfo{}); err != nil || string(got) != "ghi" || is.Size != 9 {
		t.Errorf("%q %v %v", got, is, err)
	}
	if _, err := n.Range(server.URL, got, 3, is); err != nil || string(got) != "def" {
		t.Errorf("%q %v", got, err)
	}
	if _, _, err := n.Get(server.URL, 9, nil, storage.FileInfo{Size: 8, Version: is.Version}); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("of another length: %v", err)
	}
	tag = `"2"`
	if _, err := n.Range(server.URL, got, 3, is); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("of another version: %v", err)
	}
	if _, _, err := n.Get(server.URL, 9, nil, is); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("all of another version: %v", err)
	}
	partial = true
	if _, _, err := n.Get(server.URL, 9, nil, storage.FileInfo{}); err == nil || !strings.Contains(err.Error(), "a part of it") {
		t.Errorf("a part: %v", err)
	}
}

// A redirect does not disclose the first address, and a lasting error is not retried.
func TestRedirects(t *testing.T) {
	requests := 0
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.Header.Get("Referer") != "" {
			t.Errorf("the second server is told %q", r.Header.Get("Referer"))
		}
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/bad":
			w.Header().Set("Location", "http://h/%zz?X-Amz-Signature=abc")
			w.WriteHeader(http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			w.Write([]byte("abc"))
		}
	}))
	defer second.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, second.URL+r.URL.Path, http.StatusFound)
	}))
	defer first.Close()
	n := &network{wait: time.Millisecond}
	if data, _, err := n.Get(first.URL+"/a?X-Amz-Signature=abc", 9, nil, storage.FileInfo{}); err != nil || string(data) != "abc" {
		t.Errorf("%q, %v", data, err)
	}
	for path, c := range map[string]struct {
		want string
		most int
	}{"/loop": {"redirects more than 10 times", 10}, "/file": {`redirects to "file://…"`, 1}, "/bad": {"a URL that is not valid", 1}} {
		requests = 0
		if _, _, err := n.Get(first.URL+path, 9, nil, storage.FileInfo{}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "abc") || requests > c.most {
			t.Errorf("%s: %v, after %d requests", path, err, requests)
		}
	}
	tls := httptest.NewTLSServer(second.Config.Handler)
	defer tls.Close()
	if _, _, err := n.Get(tls.URL, 9, nil, storage.FileInfo{}); err == nil || strings.Contains(err.Error(), "tried") {
		t.Errorf("a certificate of nobody: %v", err)
	}
}

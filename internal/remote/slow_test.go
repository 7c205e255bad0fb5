package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eccbench/datasets/storage"
)

// A server that sends a byte now and then, or nothing, is given up after one round, and a lasting error is reported
// at once.
func TestSlowServers(t *testing.T) {
	var requests atomic.Int64
	byBytes := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "16512")
		for r.Method == http.MethodGet && r.Context().Err() == nil {
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}
	silently := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	reasonless := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	badLength := func(w http.ResponseWriter, _ *http.Request) {
		c, b, err := w.(http.Hijacker).Hijack()
		if err == nil {
			b.WriteString("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")
			b.Flush()
			c.Close()
		}
	}
	for _, c := range []struct {
		what, want string
		serve      http.HandlerFunc
		limit      time.Duration
		most       int64
	}{
		{"a byte now and then", " came ", byBytes, 0, attempts},
		{"nothing", "nothing came", silently, 0, attempts},
		{"nothing within the time limit", "time limit of 20ms", silently, 20 * time.Millisecond, attempts},
		{"no reason after a status", "answers 403", reasonless, 0, 1},
		{"a length that is no number", "bad Content-Length", badLength, 0, 1},
	} {
		requests.Store(0)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			c.serve(w, r)
		}))
		n := &network{wait: time.Millisecond, silence: 100 * time.Millisecond, limit: c.limit}
		if c.limit > 0 {
			n.end = time.Now().Add(c.limit)
		}
		_, _, err := n.Get(server.URL+"/scan.npy", 1<<20, nil, storage.FileInfo{})
		if err == nil || !strings.Contains(err.Error(), c.want) || requests.Load() > c.most {
			t.Errorf("%s: %v after %d requests, want %q after %d at most", c.what, err, requests.Load(), c.want, c.most)
		}
		server.CloseClientConnections()
		server.Close()
	}
	server := httptest.NewTLSServer(http.NotFoundHandler()) // with an unknown certificate
	defer server.Close()
	insecure := strings.Replace(server.URL, "https", "http", 1)
	for url, want := range map[string]string{server.URL: "certificate", insecure: "400"} {
		n := &network{wait: time.Hour} // before a second try
		if _, _, err := n.Stat(url + "/scan.npy"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// serveS3 starts an S3 server until the script ends, whose one bucket has the files of a folder and
// its name.
func serveS3(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: s3 FOLDER")
	}
	backend := s3mem.New()
	ts.Check(backend.CreateBucket(args[0]))
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close() // only read from
		info, err := f.Stat()
		if err != nil {
			return err
		}
		key, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		_, err = backend.PutObject(args[0], filepath.ToSlash(key), map[string]string{"Last-Modified": "Mon, 2 Jan 2006 15:04:05 GMT"}, f, info.Size(), nil)
		return err
	}))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	ts.Defer(server.Close)
	ts.Setenv("AWS_ENDPOINT_URL", server.URL)
	ts.Setenv("AWS_ACCESS_KEY_ID", "one")
	ts.Setenv("AWS_SECRET_ACCESS_KEY", "two")
	ts.Setenv("AWS_REGION", "us-east-1")
}

// serveWeb starts a web server of a folder until the script ends. It accepts the user ann with the
// password s3cr3t, or a signature. WEB is its host and port.
func serveWeb(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: web FOLDER")
	}
	files := http.FileServer(http.Dir(ts.MkAbs(args[0])))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if (user != "ann" || password != "s3cr3t") && r.URL.Query().Get("X-Amz-Signature") != "s3cr3t" {
			http.Error(w, "who is that?", http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("WEB", strings.TrimPrefix(server.URL, "http://"))
}

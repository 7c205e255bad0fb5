package remote

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/datasets/storage"
)

// forget clears the concealed URLs, sets the URLs of other processes to urls, and hides the user's
// passwords.
func forget(t *testing.T, urls string) {
	t.Helper()
	t.Setenv(secretsVariable, urls)
	t.Setenv("NETRC", filepath.Join(t.TempDir(), "none"))
	secrets.full = nil
	t.Cleanup(func() { secrets.full = nil })
}

// Concealed arguments contain no secrets; other arguments stay the same.
func TestConceal(t *testing.T) {
	for arg, want := range map[string]string{
		"http://ann:pw@h/i.npy":                    "http://h/i.npy",
		"HTTPS://ann@h:8/i.npy?a=b":                "https://h:8/i.npy",
		"--mask=https://h/a%2Fb.raw?sig=pw":        "--mask=https://h/a%2Fb.raw",
		"file/type=uint8/path=http://h/i.raw?pw=a": "file/type=uint8/path=http://h/i.raw",
		"http://h/i%23.npy":                        "http://h/i%23.npy",
		"http://h/i.npy":                           "http://h/i.npy",
		"http://h/a b%zz.npy":                      "http://h/a b%zz.npy",
		"s3://bucket/key.npy":                      "s3://bucket/key.npy",
		"--mask=S3://bucket/a@b#c?d%zz=.npy":       "--mask=S3://bucket/a@b#c?d%zz=.npy",
		"what?=a@b#c":                              "what?=a@b#c",
		"http://ann:p%zw@h/i.npy":                  "error: percent-encode",
		"http://ann:p?w@h/i.npy":                   "error: percent-encode",
		"http://ann:p\nw@h/i.npy":                  "error: percent-encode",
		"http://h/i.npy#pw":                        "error: no fragment; write # in a name as %23",
		"http://ann:p#w@h/i.npy":                   "error: no fragment",
		"s3://ann:pw@bucket/key.npy":               "error: without a server, a user name or a query",
		"s3://ann:a/pw@bucket/key.npy":             "error: without a server, a user name or a query",
		"s3://host:9000/bucket/key.npy":            "error: set AWS_ENDPOINT_URL",
		"s3://bucket/key.npy?versionId=pw":         "error: without a server, a user name or a query",
		"s3://b/k?a=b&x-amz-signature=pw":          "error: give an https URL",
	} {
		forget(t, "")
		args := []string{arg}
		err := Conceal(args)
		if message, wrong := strings.CutPrefix(want, "error: "); wrong {
			if err == nil || !strings.Contains(err.Error(), message) || regexp.MustCompile("pw|ann").MatchString(err.Error()) {
				t.Errorf("%q: %v, want %q", arg, err, message)
			}
		} else if err != nil || args[0] != want {
			t.Errorf("%q: %q, %v, want %q", arg, args[0], err, want)
		}
	}
	forget(t, "")
	err := Conceal([]string{"http://h/i.npy?a=1", "http://h/i.npy?a=2"})
	if err == nil || !strings.Contains(err.Error(), "one at a time") {
		t.Errorf("two queries of one name: %v", err)
	}
}

// A concealed part is sent to the server of its URL, for every object of a Zarr array there, also
// from a child process. No other server receives it.
func TestSecretsOfRequests(t *testing.T) {
	data := image()
	objects := zarrOf(data)
	objects["scan.npy"] = npy(data)
	var other *httptest.Server
	serve := func(w http.ResponseWriter, r *http.Request) {
		at := strings.TrimPrefix(r.URL.Path, "/")
		if at == "away.npy" {
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/scan.npy", http.StatusFound)
			return
		}
		if objects[at] == nil {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(objects[at]))
	}
	other = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization")+r.Header.Get("Referer")+r.URL.RawQuery != "" {
			t.Errorf("another server is told %q %q", r.Header, r.URL)
		}
		serve(w, r)
	}))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		signed := r.URL.Query().Get("sig") == "s3cr3t" && r.Method == http.MethodGet
		if !signed && user+password != "anns3cr3t" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		serve(w, r)
	}))
	defer first.Close()
	storage.Servers = &network{wait: time.Millisecond}
	defer func() { storage.Servers = nil }()
	user := strings.Replace(first.URL, "://", "://ann:s3cr3t@", 1)
	for _, full := range []string{
		user + "/scan.npy", user + "/scan.zarr", user + "/scan.zarr/", user + "/away.npy",
		first.URL + "/scan.npy?sig=s3cr3t", first.URL + "/scan.zarr?sig=s3cr3t",
	} {
		forget(t, "")
		args := []string{"file/path=" + full}
		if err := Conceal(args); err != nil {
			t.Fatal(err)
		}
		checkImage(t, args[0], data)
		secrets.full = nil // as in a worker
		if err := Conceal(args); err != nil {
			t.Fatal(err)
		}
		checkImage(t, args[0], data)
	}
	forget(t, "")
	_, err := datasets.Open("file/path=" + first.URL + "/scan.npy")
	if err == nil || !strings.Contains(err.Error(), "answers 403") {
		t.Errorf("without a password: %v", err)
	}
	for _, name := range []string{"127.0.0.1", "127.0.0.1:80"} {
		text := "# a comment of three words\nmachine x login ann password wrong machine " + name +
			" login ann\npassword s3cr3t\ndefault login a password b"
		file := filepath.Join(t.TempDir(), "netrc")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("NETRC", file)
		if _, err := datasets.Open("file/path=" + first.URL + "/away.npy"); (err == nil) != (name == "127.0.0.1") {
			t.Errorf("netrc of %s: %v", name, err)
		}
	}
}

// Package remote reads ranges of objects from HTTP and S3 servers. Temporary failures are retried;
// an object that changes between two reads is an error.
package remote

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"eccbench/datasets/storage"
)

// Register lets package datasets read from URLs until the limit is over; 0 for no limit.
func Register(limit time.Duration) {
	n := &network{wait: time.Second}
	if limit > 0 {
		n.limit, n.end = limit, time.Now().Add(limit)
	}
	storage.Servers = n
	log.SetOutput(io.Discard) // net/http has no other switch for lines about servers that send more than they announce
}

// A network reads from servers, each by a client that is kept.
type network struct {
	wait    time.Duration // before the first read that is made again
	silence time.Duration // time in which a server may send less than leastBytes; 0 for the default
	limit   time.Duration // of all reads
	end     time.Time     // of all reads; zero for no limit

	mu      sync.Mutex
	clients map[string]client
}

// A client reads the objects of a server.
type client interface {
	// stat returns the size of an object and its version, "" if unknown.
	stat(ctx context.Context, at *url.URL) (size int64, version string, err error)
	// get reads n bytes from an offset: all of them if n < 0, and the last n if from < 0. It
	// requests a version and returns the header of the answer, which the caller checks.
	get(ctx context.Context, at *url.URL, from, n int64, version string) (io.ReadCloser, http.Header, error)
}

// unknown is the length of an object whose server does not report it.
const unknown = -1

// read gets a part of an object, or all of it, and compares the object with the one that was read
// before. Every answer of every server passes here. The zero FileInfo accepts any object.
func read(ctx context.Context, c client, at *url.URL, from, n int64, was storage.FileInfo) (io.ReadCloser,
	storage.FileInfo, error) {
	body, h, err := c.get(ctx, at, from, n, was.Version)
	if err != nil {
		return nil, was, err
	}
	is := storage.FileInfo{Version: versionOf(h)}
	if is.Size, err = lengthOf(h, from, n); err == nil {
		err = sameObject(was, is)
	}
	if err != nil {
		body.Close() // nobody reads it
		return nil, was, err
	}
	return body, is, nil
}

// versionOf is the ETag and the time of the last change that a header has, "" for neither. Some
// servers ignore If-Match, so versions are compared here.
func versionOf(h http.Header) string {
	if h.Get("ETag") == "" && h.Get("Last-Modified") == "" {
		return ""
	}
	return h.Get("ETag") + "\n" + h.Get("Last-Modified")
}

// sameObject returns an error if the version or the size of an object changed, as far as both are
// known.
func sameObject(was, is storage.FileInfo) error {
	if was.Version != "" {
		tag, time, _ := strings.Cut(was.Version, "\n")
		newTag, newTime, _ := strings.Cut(is.Version, "\n")
		switch {
		case is.Version == "":
			return storage.ObjectError{Why: "the server does not give the version of its answer (no ETag, no Last-Modified); " +
				"download it"}
		case tag != "" && newTag != "" && strings.TrimPrefix(tag, "W/") != strings.TrimPrefix(newTag, "W/"), time != "" &&
			newTime != "" && time != newTime:
			return storage.ErrChanged
		}
	}
	if was.Size > 0 && is.Size != unknown && was.Size != is.Size {
		return storage.ErrChanged
	}
	return nil
}

// lengthOf returns the length of the whole object from the header of an answer. The answer must
// have the requested range: n bytes from an offset, the last n if from < 0, everything if n < 0.
func lengthOf(h http.Header, from, n int64) (int64, error) {
	said := h.Get("Content-Range")
	length, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	if err != nil {
		length = unknown
	}
	switch {
	case n < 0 && said != "":
		return 0, storage.ObjectError{Why: fmt.Sprintf("the server sends a part of it (Content-Range: %.80q) where the "+
			"whole was asked for; download it", said)}
	case n < 0:
		return length, nil
	case said == "":
		return 0, storage.ObjectError{Why: "the server does not name the part that it sends (no Content-Range); " +
			"download it"}
	}
	var first, last, total int64 = 0, 0, unknown
	place, size, _ := strings.Cut(said, "/")
	if _, err := fmt.Sscanf(place, "bytes %d-%d", &first, &last); err != nil {
		first = unknown
	}
	if size != "*" {
		if total, err = strconv.ParseInt(size, 10, 64); err != nil || total < 0 {
			first = unknown
		}
	}
	if from < 0 && total != unknown {
		from = total - n
	}
	if first != from || last != from+n-1 || length != unknown && length != n {
		return 0, storage.ObjectError{Why: fmt.Sprintf("the server sends another part of it than was asked for (%d bytes "+
			"at %d; Content-Range: %.80q, Content-Length: %.20q); download it", n, from, said, h.Get("Content-Length"))}
	}
	return total, nil
}

// A statusError is the error status of a server, which may be temporary.
type statusError struct {
	code   int
	reason string // the server's; "" if it gives none
}

func (e statusError) Error() string {
	return fmt.Sprintf("the server answers %d, %s", e.code, cmp.Or(e.reason, http.StatusText(e.code)))
}

func (e statusError) Is(err error) bool {
	return err == fs.ErrNotExist && e.code == http.StatusNotFound ||
		err == storage.ErrForbidden && e.code == http.StatusForbidden
}

// A read fails after this number of attempts, or earlier after too little data for patience times
// the silence. Too little is fewer than leastBytes within the silence.
const (
	attempts   = 6
	patience   = 2
	silence    = 30 * time.Second
	leastBytes = 8 << 10
)

// lasting reports whether an error will be there when a read is made again.
func lasting(err error) bool {
	status := statusError{}
	if errors.As(err, &status) {
		return status.code < 500 && status.code != http.StatusTooManyRequests && status.code != http.StatusRequestTimeout
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) && dns.IsNotFound {
		return true
	}
	return errors.Is(err, storage.ErrChanged) || errors.As(err, new(storage.ObjectError)) ||
		lastingText.MatchString(plain(err).Error())
}

// lastingText matches errors of net/http and crypto/tls, most without types:
// certificates, handshakes, and answers that are no HTTP.
var lastingText = regexp.MustCompile(`tls: |HTTP response to HTTPS|malformed|bad Content-Length|` +
	`unsupported transfer encoding`)

// retry does something until it succeeds, or fails for good.
func (n *network) retry(do func(ctx context.Context) error) error {
	wait, start := n.wait, time.Now()
	for i := 1; ; i++ {
		moved, err := n.try(do)
		if err == nil || lasting(err) {
			return plain(err)
		}
		if moved {
			start = time.Now()
		}
		pause := wait/2 + rand.N(wait/2+1)
		if i == attempts || time.Since(start)+pause >= patience*cmp.Or(n.silence, silence) {
			return fmt.Errorf("%w; tried %d times", plain(err), i)
		}
		if err := n.checkTime(pause); err != nil {
			return err
		}
		time.Sleep(pause)
		wait *= 2
	}
}

// try runs do once, until too little data arrives or the time of all reads is over. moved reports
// whether enough arrived at first.
func (n *network) try(do func(ctx context.Context) error) (moved bool, err error) {
	if err := n.checkTime(0); err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !n.end.IsZero() {
		var stop func()
		ctx, stop = context.WithDeadline(ctx, n.end)
		defer stop()
	}
	t := &pulse{silence: cmp.Or(n.silence, silence)}
	t.timer = time.AfterFunc(t.silence, cancel)
	defer t.timer.Stop()
	err = do(context.WithValue(ctx, progress{}, t))
	switch {
	case err == nil || ctx.Err() == nil || lasting(err):
	case n.checkTime(0) != nil:
		err = n.checkTime(0)
	case t.bytes == 0:
		err = fmt.Errorf("nothing came for %v", t.silence)
	default:
		err = fmt.Errorf("fewer than %d bytes came within %v", leastBytes, t.silence)
	}
	return t.moved, err
}

// checkTime returns an error if the time of all reads ends within a duration.
func (n *network) checkTime(in time.Duration) error {
	if n.end.IsZero() || time.Until(n.end) > in {
		return nil
	}
	return storage.ObjectError{Why: fmt.Sprintf("reading it took the whole time limit of %v; "+
		"give a longer --time-limit, or download it", n.limit)}
}

// plain is the cause of an error of net/http, which has the URL in it. The end of a connection is
// not that of an object, which decoders would call truncated.
func plain(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the connection ended before the answer was complete")
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// progress is the key of the pulse of a read.
type progress struct{}

// A pulse ends a read that receives too few bytes.
type pulse struct {
	timer   *time.Timer
	silence time.Duration
	bytes   int64 // since the timer was set
	moved   bool
}

// living is a body whose bytes put off the end of its read.
type living struct {
	io.Reader
	*pulse
}

func (l living) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if l.bytes += int64(n); l.bytes >= leastBytes {
		l.timer.Reset(l.silence)
		l.bytes, l.moved = 0, true
	}
	return n, err
}

// body returns the body of a started read.
func body(ctx context.Context, r io.Reader) io.Reader {
	return living{r, ctx.Value(progress{}).(*pulse)}
}

var bucketName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// locate returns the URL of an object with its secret parts. The path of s3://bucket/key is the key.
func locate(address string) (*url.URL, error) {
	invalid := storage.ObjectError{Why: "no URL of an object; want such as s3://bucket/key or https://host/path"}
	if bucket, key, is := storage.CutS3(address); is {
		if !bucketName.MatchString(bucket) || key == "" {
			return nil, invalid
		}
		return &url.URL{Scheme: "s3", Host: bucket, Path: "/" + key}, nil
	}
	if strings.Contains(address, "#") {
		return nil, errFragment
	}
	u, err := url.Parse(address)
	if errors.As(err, new(url.EscapeError)) {
		return nil, storage.ObjectError{Why: "not a valid URL; write % in a name as %25"}
	}
	if err != nil || u.Host == "" {
		return nil, invalid
	}
	return reveal(u), nil
}

// clientFor returns the client for a URL.
func (n *network) clientFor(address string) (client, *url.URL, error) {
	u, err := locate(address)
	if err != nil {
		return nil, nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if c := n.clients[u.Scheme]; c != nil {
		return c, u, nil
	}
	var c client = web{&http.Client{Transport: located{transport()}, CheckRedirect: redirect}}
	if u.Scheme == "s3" {
		if c, err = newS3(); err != nil {
			return nil, nil, err
		}
	}
	if n.clients == nil {
		n.clients = map[string]client{}
	}
	n.clients[u.Scheme] = c
	return c, u, nil
}

// mostRedirects is the greatest number of redirects of a request.
const mostRedirects = 10

// redirect follows a redirect without the first address: its query may be a secret.
func redirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	switch {
	case r.URL.Scheme != "http" && r.URL.Scheme != "https":
		return storage.ObjectError{Why: fmt.Sprintf("the server redirects to %.80q; want http or https", r.URL.Scheme+"://…")}
	case len(via) >= mostRedirects:
		return storage.ObjectError{Why: fmt.Sprintf("the server redirects more than %d times", mostRedirects)}
	}
	return nil
}

// located rejects redirects to invalid URLs, because net/http would print their text with the
// query.
type located struct{ http.RoundTripper }

func (l located) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := l.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if _, err := a.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
		a.Body.Close() // nobody reads it
		return nil, storage.ObjectError{Why: "the server redirects to a URL that is not valid"}
	}
	return a, nil
}

// transport keeps as many connections as there are reads at a time.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.DisableCompression = storage.RemoteReaders, true
	return t
}

func (n *network) Stat(address string) (size int64, version string, err error) {
	c, u, err := n.clientFor(address)
	if err != nil {
		return 0, "", err
	}
	err = n.retry(func(ctx context.Context) error {
		size, version, err = c.stat(ctx, u)
		return err
	})
	return size, version, err
}

func (n *network) Get(address string, most int64, buf []byte, was storage.FileInfo) (data []byte, is storage.FileInfo,
	err error) {
	c, u, err := n.clientFor(address)
	if err != nil {
		return nil, was, err
	}
	err = n.retry(func(ctx context.Context) error {
		r, now, err := read(ctx, c, u, 0, -1, was)
		if err != nil {
			return err
		}
		defer r.Close() // only read from
		is = now
		into := writer{buf[:0], most}
		_, err = io.Copy(&into, body(ctx, r))
		buf = into.data
		return err
	})
	return buf, is, err
}

// A writer appends up to a number of bytes to memory that grows as they arrive.
type writer struct {
	data []byte
	most int64
}

func (w *writer) Write(p []byte) (int, error) {
	if int64(len(w.data)+len(p)) > w.most {
		return 0, storage.ObjectError{Why: fmt.Sprintf("more than the %d bytes that it can have", w.most)}
	}
	w.data = append(w.data, p...)
	return len(p), nil
}

func (n *network) Range(address string, dst []byte, at int64, was storage.FileInfo) (storage.FileInfo, error) {
	if len(dst) == 0 {
		return was, nil
	}
	c, u, err := n.clientFor(address)
	if err != nil {
		return was, err
	}
	done := 0 // bytes that need no second request
	err = n.retry(func(ctx context.Context) error {
		if at < 0 {
			done = 0
		}
		from := at
		if at >= 0 {
			from += int64(done)
		}
		r, is, err := read(ctx, c, u, from, int64(len(dst)-done), was)
		if err != nil {
			return err
		}
		defer r.Close() // only read from
		was = is        // also the version for repeated requests
		k, err := io.ReadFull(body(ctx, r), dst[done:])
		done += k
		return err
	})
	return was, err
}

// web reads from HTTP servers.
type web struct{ client *http.Client }

func (w web) do(ctx context.Context, method string, at *url.URL, set func(h http.Header)) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	set(r.Header)
	a, err := w.client.Do(r)
	if err != nil {
		return nil, err
	}
	switch a.StatusCode {
	case http.StatusOK, http.StatusPartialContent:
		if err := checkCoding(a.Header, at.Path); err != nil {
			a.Body.Close() // nobody reads it
			return nil, err
		}
		return a, nil
	}
	defer a.Body.Close() // only read from
	if a.StatusCode == http.StatusPreconditionFailed {
		return nil, storage.ErrChanged
	}
	password, _ := at.User.Password()
	return nil, statusError{a.StatusCode, reasonOf(a, password)}
}

// checkCoding returns an error for an answer that the server compressed. Some servers announce files
// that are compressed themselves so, such as a.nii.gz.
func checkCoding(h http.Header, name string) error {
	coding := h.Get("Content-Encoding")
	if coding == "" || strings.EqualFold(coding, "identity") || slices.Contains([]string{storage.Gzip.Extension,
		storage.Bzip2.Extension, storage.Zstd.Extension}, strings.ToLower(path.Ext(name))) {
		return nil
	}
	return storage.ObjectError{Why: fmt.Sprintf("the server sends it compressed, although asked not to "+
		"(Content-Encoding: %.20q); download it", coding)}
}

// reasonOf returns the code and the message of an S3 server's error, at most 200 characters of a line, or "" for other
// errors. A code or a message that repeats a secret of the request is left out.
func reasonOf(a *http.Response, password string) string {
	var e struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}
	const most = 4 << 10
	xml.NewDecoder(io.LimitReader(a.Body, most)).Decode(&e) // of a document that is cut or invalid, the beginning
	if e.Code == "" || password != "" && strings.Contains(e.Code+e.Message, password) {
		return ""
	}
	query, _ := url.QueryUnescape(a.Request.URL.RawQuery)
	sent := strings.Join([]string{query, a.Request.URL.RawQuery, a.Request.Header.Get("Authorization"),
		a.Request.Header.Get("X-Amz-Security-Token")}, " ")
	for _, word := range strings.FieldsFunc(sent, func(r rune) bool { return strings.ContainsRune(" ,&/", r) }) {
		word = strings.TrimRight(word, "=")          // the padding of base64
		word = word[strings.IndexByte(word, '=')+1:] // the value of a name
		switch {
		case len(word) <= len("s3"):
		case strings.Contains(e.Code, word):
			return ""
		case strings.Contains(e.Message, word):
			e.Message = ""
		}
	}
	words := strings.FieldsFunc(e.Code+": "+e.Message, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
	return fmt.Sprintf("%.200s", strings.TrimRight(strings.Join(words, " "), ".: "))
}

func (w web) stat(ctx context.Context, at *url.URL) (int64, string, error) {
	a, err := w.do(ctx, http.MethodHead, at, func(http.Header) {})
	if status := (statusError{}); errors.As(err, &status) && (status.code == http.StatusForbidden ||
		status.code == http.StatusBadRequest) {
		return w.statByGet(ctx, at)
	}
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close() // it is empty
	if a.ContentLength < 0 {
		return 0, "", storage.ObjectError{Why: "the server does not report its length; download it"}
	}
	return a.ContentLength, versionOf(a.Header), nil
}

// statByGet is stat at a URL that is signed for GET alone. Its errors have the server's reason.
func (w web) statByGet(ctx context.Context, at *url.URL) (int64, string, error) {
	r, h, err := w.get(ctx, at, 0, 1, "")
	if err != nil {
		return 0, "", err
	}
	r.Close() // nobody reads it
	size, err := lengthOf(h, 0, 1)
	if err == nil && size < 0 {
		err = storage.ObjectError{Why: "the server does not report its length; download it"}
	}
	return size, versionOf(h), err
}

func (w web) get(ctx context.Context, at *url.URL, from, n int64, version string) (io.ReadCloser, http.Header, error) {
	a, err := w.do(ctx, http.MethodGet, at, func(h http.Header) {
		switch {
		case from < 0:
			h.Set("Range", fmt.Sprintf("bytes=%d", from))
		case n >= 0:
			h.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+n-1))
		}
		tag, time, _ := strings.Cut(version, "\n")
		if strings.HasPrefix(tag, `"`) { // not a weak tag, which does not identify the bytes
			h.Set("If-Match", tag)
		} else if time != "" {
			h.Set("If-Unmodified-Since", time)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if n >= 0 && a.StatusCode != http.StatusPartialContent {
		a.Body.Close() // nobody reads it
		return nil, nil, storage.ObjectError{Why: "the server reads no parts of it, only the whole; download it"}
	}
	return a.Body, a.Header, nil
}

package remote

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"eccbench/datasets/storage"
)

// s3 sends the requests for s3://bucket/key to an S3 server. The environment determines its address
// and the credentials. Without credentials requests are not signed.
type s3 struct {
	http.RoundTripper
	endpoint *url.URL
	keys     *credentials.Credentials
	region   string
	regions  sync.Map // by bucket, where the server reports another one
}

// newS3 returns a client for the environment variables of AWS's programs.
func newS3() (client, error) {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	u, err := url.Parse(endpoint)
	if err != nil {
		u = new(url.URL)
	}
	port, known := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if u.Host == "" || !known {
		return nil, storage.ObjectError{Why: "AWS_ENDPOINT_URL (or AWS_ENDPOINT_URL_S3) is no http or https URL; " +
			"want such as https://host:9000"}
	}
	if u.Port() == port || u.Port() == "" {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port()) // servers and proxies sign it without
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" ||
		os.Getenv("AWS_EC2_METADATA_DISABLED") == "false" {
		providers = append(providers, &credentials.IAM{}) // others would wait for an answer
	}
	to := &s3{RoundTripper: transport(), endpoint: u, keys: credentials.NewChainCredentials(providers),
		region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), s3utils.GetRegionFromURL(*u), "us-east-1")}
	return web{&http.Client{Transport: to, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the signature is for one server
	}}}, nil
}

var (
	regionName = regexp.MustCompile(`^[a-z0-9-]+$`)
	// inRegion finds the region in an answer about the location of a bucket, also in an error.
	inRegion = regexp.MustCompile(`<(?:Region|LocationConstraint[^>]*)>([a-z0-9-]+)</`)
)

// RoundTrip sends a request, and a second one if the bucket is in another region. Servers report that in a header, and
// some only in the body of an answer.
func (s *s3) RoundTrip(r *http.Request) (*http.Response, error) {
	region := s.region
	if known, is := s.regions.Load(r.URL.Host); is {
		region = known.(string)
	}
	a, err := s.send(r, region, "")
	if err != nil || a.StatusCode < http.StatusMultipleChoices {
		return a, err
	}
	reported := a.Header.Get("X-Amz-Bucket-Region")
	if reported == "" && (a.StatusCode == http.StatusBadRequest || a.StatusCode == http.StatusMovedPermanently) {
		reported = s.located(r, region)
	}
	if reported == region || !regionName.MatchString(reported) {
		return a, nil
	}
	a.Body.Close() // nobody reads it
	s.regions.Store(r.URL.Host, reported)
	return s.send(r, reported, "")
}

// located returns the region of a request's bucket, or "" if the server does not report it.
func (s *s3) located(r *http.Request, region string) string {
	r = r.Clone(r.Context())
	r.Method, r.Header = http.MethodGet, http.Header{}
	r.URL = &url.URL{Host: r.URL.Host, Path: "/"}
	a, err := s.send(r, region, "location=")
	if err != nil {
		return ""
	}
	defer a.Body.Close() // only read from
	const most = 64 << 10
	text, err := io.ReadAll(io.LimitReader(a.Body, most))
	if found := inRegion.FindSubmatch(text); err == nil && found != nil {
		return string(found[1])
	}
	return ""
}

// send sends a request to a region, signed if there are credentials.
func (s *s3) send(r *http.Request, region, query string) (*http.Response, error) {
	bucket, path := r.URL.Host, "/"+r.URL.Host+r.URL.Path
	at := url.URL{Scheme: s.endpoint.Scheme, Host: s.endpoint.Host, RawQuery: query}
	if at.Host == "s3.amazonaws.com" {
		at.Host = "s3.dualstack." + region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			at.Host += ".cn"
		}
	}
	if s3utils.IsVirtualHostSupported(at, bucket) {
		at.Host, path = bucket+"."+at.Host, r.URL.Path
	}
	at.Path = strings.TrimSuffix(s.endpoint.Path, "/") + path
	at.RawPath = s3utils.EncodePath(at.Path)
	keys, err := s.keys.GetWithContext(&credentials.CredContext{Context: r.Context()})
	if err != nil {
		return nil, storage.ObjectError{Why: err.Error()}
	}
	r = r.Clone(r.Context())
	r.URL, r.Host = &at, ""
	r.Header.Set("X-Amz-Content-Sha256", fmt.Sprintf("%x", sha256.Sum256(nil))) // of no body
	return s.RoundTripper.RoundTrip(signer.SignV4(*r, keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken, region))
}

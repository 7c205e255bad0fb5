package remote

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"eccbench/datasets/storage"
)

// s3 reads from S3 servers. The environment determines their addresses and the credentials.
type s3 struct{ core *minio.Core }

// newS3 returns a client for the environment variables of AWS's programs. Without credentials it is
// anonymous.
func newS3() (client, error) {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, storage.ObjectError{Why: "AWS_ENDPOINT_URL is no URL; want such as https://host:9000"}
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" ||
		os.Getenv("AWS_EC2_METADATA_DISABLED") == "false" {
		providers = append(providers, &credentials.IAM{}) // others would wait for an answer
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds:  credentials.NewChainCredentials(providers),
		Secure: u.Scheme == "https", Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Transport: transport(), MaxRetries: 1, // retry handles all errors
	})
	if err != nil {
		return nil, storage.ObjectError{Why: err.Error()}
	}
	return s3{core}, nil
}

func object(at *url.URL) (bucket, key string) { return at.Host, strings.TrimPrefix(at.Path, "/") }

// translate converts an error of the library to an error of this package.
func translate(err error) error {
	if err == nil {
		return nil
	}
	r := minio.ToErrorResponse(err)
	switch r.StatusCode {
	case 0:
		return err
	case http.StatusPreconditionFailed:
		return storage.ErrChanged
	}
	return statusError{r.StatusCode, r.Message}
}

func (s s3) stat(ctx context.Context, at *url.URL) (int64, string, error) {
	bucket, key := object(at)
	info, err := s.core.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return 0, "", translate(err)
	}
	h := http.Header{}
	if info.ETag != "" {
		h.Set("ETag", strconv.Quote(info.ETag)) // as an answer's header has it
	}
	return info.Size, versionOf(h), nil
}

func (s s3) get(ctx context.Context, at *url.URL, from, n int64, version string) (io.ReadCloser, http.Header, error) {
	var o minio.GetObjectOptions
	var err error
	switch {
	case from < 0:
		err = o.SetRange(0, from)
	case n >= 0:
		err = o.SetRange(from, from+n-1)
	}
	tag, _, _ := strings.Cut(version, "\n")
	if strings.HasPrefix(tag, `"`) && err == nil {
		err = o.SetMatchETag(strings.Trim(tag, `"`))
	}
	if err != nil {
		return nil, nil, err
	}
	bucket, key := object(at)
	r, _, h, err := s.core.GetObject(ctx, bucket, key, o)
	return r, h, translate(err)
}

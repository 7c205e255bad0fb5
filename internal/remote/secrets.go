package remote

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"eccbench/datasets/storage"
	"eccbench/internal/regular"
)

// secretsVariable holds the URLs that have secrets, one a line. Workers inherit it, and people may
// set it where an argument would be stored.
const secretsVariable = "ECCBENCH_URLS"

// secrets maps displayed URLs to the URLs as typed.
var secrets struct {
	mu   sync.Mutex
	full map[string]*url.URL
}

// urlArgument matches a URL at the end of an argument, such as that of a name or of a flag.
var urlArgument = regexp.MustCompile(`(?is)(?:^|=)((?:s3|https?)://.*)$`)

// errFragment is the error of a URL with a fragment, which no request would have.
var errFragment = storage.ObjectError{Why: "a URL of an object has no fragment; write # in a name as %23"}

// s3Query matches keys with the query of a version or of a signature. The first would be another
// object, the second a secret in the output.
var s3Query = regexp.MustCompile(`(?i)\?(?:.*&)?(?:x-amz-[a-z-]+|versionid)=`)

// Conceal removes user names, passwords and queries from the http URLs in arguments, in
// place. Requests still use them; names, records and messages do not contain them. It also reads
// ECCBENCH_URLS, and adds to it for child processes.
func Conceal(args []string) error {
	secrets.mu.Lock()
	defer secrets.mu.Unlock()
	if secrets.full == nil {
		secrets.full = map[string]*url.URL{}
		for _, full := range strings.Fields(os.Getenv(secretsVariable)) {
			if _, err := conceal(full); err != nil {
				return fmt.Errorf("%s: %w", secretsVariable, err)
			}
		}
	}
	for i, arg := range args {
		at := urlArgument.FindStringSubmatchIndex(arg)
		if at == nil {
			continue
		}
		shown, err := conceal(arg[at[2]:])
		if err != nil {
			return err
		}
		args[i] = arg[:at[2]] + shown
	}
	if len(secrets.full) == 0 {
		return nil
	}
	var lines []string
	for _, u := range secrets.full {
		lines = append(lines, u.String())
	}
	return os.Setenv(secretsVariable, strings.Join(lines, "\n"))
}

// conceal returns the displayed form of a URL and stores the secret parts. Its errors do not
// contain the URL.
func conceal(full string) (shown string, err error) {
	if bucket, key, is := storage.CutS3(full); is {
		if strings.ContainsAny(bucket, "@:") || s3Query.MatchString(key) {
			return "", errors.New("an S3 URL is s3://bucket/key, without a server, a user name or a query; set " +
				"AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give an https URL")
		}
		return full, nil
	}
	if strings.Contains(full, "#") {
		return "", errFragment
	}
	if !strings.ContainsAny(full, "?@") {
		return full, nil
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" {
		return "", errors.New("a URL with a user name or a query is not valid; percent-encode what is special in it")
	}
	bare := *u
	bare.User, bare.RawQuery, bare.ForceQuery = nil, "", false
	shown = bare.String()
	if u.User == nil && u.RawQuery == "" {
		return shown, nil
	}
	if before := secrets.full[shown]; before != nil && before.String() != u.String() {
		return "", fmt.Errorf("%s: two URLs differ only in the password or the query; "+
			"run the command for one at a time", shown)
	}
	secrets.full[shown] = u
	return shown, nil
}

// reveal adds the concealed parts to a URL, or the parts of the Zarr array that contains the
// object. Otherwise the user and the password are from ~/.netrc.
func reveal(at *url.URL) *url.URL {
	secrets.mu.Lock()
	defer secrets.mu.Unlock()
	full := *at
	host := len(at.Scheme + "://" + at.Host)
	for prefix := at.String(); len(prefix) >= host; prefix = prefix[:strings.LastIndexByte(prefix, '/')] {
		if u := cmp.Or(secrets.full[prefix], secrets.full[prefix+"/"]); u != nil {
			full.User, full.RawQuery = u.User, u.RawQuery
			break
		}
	}
	if full.User == nil {
		full.User = netrcUser(at.Hostname())
	}
	return &full
}

// netrcUser is the user with the password that $NETRC or ~/.netrc has for a host, nil for none.
func netrcUser(host string) *url.Userinfo {
	path := os.Getenv("NETRC")
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".netrc")
	}
	text, err := regular.ReadFile(path, mostNetrc)
	if err != nil {
		return nil // most people have none
	}
	var machine, login, password string
	words := strings.Fields(netrcComment.ReplaceAllString(string(text), ""))
	for i := 0; i+1 < len(words) && words[i] != "default" && words[i] != "macdef"; i += 2 {
		switch words[i] {
		case "machine":
			if machine == host {
				return url.UserPassword(login, password)
			}
			machine, login, password = words[i+1], "", ""
		case "login":
			login = words[i+1]
		case "password":
			password = words[i+1]
		}
	}
	if machine != host {
		return nil
	}
	return url.UserPassword(login, password)
}

// mostNetrc is far above the size of a netrc file.
const mostNetrc = 1 << 20

var netrcComment = regexp.MustCompile(`(?m)^\s*#.*$`)

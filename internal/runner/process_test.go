package runner

import (
	"errors"
	"testing"
)

// The reason of a worker's death is the line that names the failure, or else the first line.
func TestDeaths(t *testing.T) {
	died, malformed := errors.New("exit status 2"), errors.New("not JSON")
	for _, c := range []struct {
		died, malformed error
		stderr, want    string
	}{
		{nil, nil, "", "the worker ended without a result"},
		{died, nil, "", "the worker ended with exit status 2"},
		{died, malformed, "", "the worker wrote a malformed event: not JSON"},
		{died, nil, "\nfirst\nlast\n", "the worker ended with exit status 2: first"},
		{died, nil, "first\npanic: why\npanic: again\n", "the worker ended with exit status 2: panic: why"},
		{died, nil, "first\nfatal error: why\ngoroutine 1", "the worker ended with exit status 2: fatal error: why"},
	} {
		if got := death(c.died, c.malformed, c.stderr); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

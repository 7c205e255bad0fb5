package resident

import (
	"errors"
	"io"
)

// ErrUntimed is the error of a request for the time of an untimed launch.
var ErrUntimed = errors.New("the time of a kernel that was opened without being timed")

// CloseAll closes the objects of a device in order. It ignores nil.
func CloseAll(objects ...io.Closer) error {
	var errs []error
	for _, o := range objects {
		if o != nil {
			errs = append(errs, o.Close())
		}
	}
	return errors.Join(errs...)
}

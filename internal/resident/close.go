package resident

import (
	"errors"
	"io"
)

// ErrUntimed says that the time was asked of a launch that was not to be timed.
var ErrUntimed = errors.New("the time of a kernel that was opened without being timed")

// CloseAll closes what there is of a device's objects, in order. What is nil was
// never made.
func CloseAll(objects ...io.Closer) error {
	var errs []error
	for _, o := range objects {
		if o != nil {
			errs = append(errs, o.Close())
		}
	}
	return errors.Join(errs...)
}

package grid

import "context"

// Until returns a source that is bound to a context: once the context ends, reads return its error.
// A Field stays a Field in the same memory; code that reads its Data calls Ended from time to time.
func Until(ctx context.Context, s Source) Source {
	switch s := s.(type) {
	case *Field:
		g := *s
		g.until = ctx
		return &g
	case repeat:
		return repeat{Until(ctx, s.Source), s.period}
	}
	return until{s, ctx}
}

// Ended returns the error of a Field's context (see Until) or of its Watcher, or nil. Other sources
// return such errors from ReadSlab.
func Ended(s Source) error {
	f, ok := s.(*Field)
	if ok && f.until != nil {
		if err := f.until.Err(); err != nil {
			return err
		}
	}
	if ok && f.watcher != nil {
		return f.watcher.Err()
	}
	return nil
}

type until struct {
	Source
	ctx context.Context
}

func (u until) ReadSlab(dst []byte, lo, hi int64) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	return u.Source.ReadSlab(dst, lo, hi)
}

// Dim returns the number of axes of the source.
func (u until) Dim() int { return Dim(u.Source) }

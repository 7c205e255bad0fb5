package grid

import "context"

// Until returns a source that ends with a context: later reads return the
// context's error. A Field stays one, in the same memory; readers of its Data call Ended
// now and then.
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

// Ended is the error of the context that a source in memory is shown Until, nil before its
// end, or of its watcher. That of a source which is read comes with ReadSlab.
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

// Dim is that of the source.
func (u until) Dim() int { return Dim(u.Source) }

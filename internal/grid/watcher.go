package grid

// A Watcher checks values of a Field that may be outside its ladder. Several goroutines call it
// concurrently.
type Watcher interface {
	// Watch announces that the caller will pass to Look every value that may be on no level.
	Watch()
	// Look receives values that may be on no level. It may receive a value repeatedly.
	Look(values []byte)
	// Err returns the error for the values so far. Ended returns it too.
	Err() error
}

// Watched returns the field with a watcher. Code that reads its Data may pass values to it.
func (f *Field) Watched(w Watcher) *Field {
	g := *f
	g.watcher = w
	return &g
}

// WatcherOf returns the watcher of a field, or nil.
func WatcherOf(s Source) Watcher {
	if f, ok := s.(*Field); ok {
		return f.watcher
	}
	return nil
}

package grid

// A Watcher looks at values of a field in memory that may be beyond its ladder's ends. Several
// goroutines call it at a time.
type Watcher interface {
	// Watch is called by who will show every value that it does not know to stand on a level.
	Watch()
	// Look is shown values, some of which may stand on no level, more than once perhaps.
	Look(values []byte)
	// Err is the error of what was seen, which Ended gives from then on.
	Err() error
}

// Watched returns a field with a watcher, which readers of its Data may show values.
func (f *Field) Watched(w Watcher) *Field {
	g := *f
	g.watcher = w
	return &g
}

// WatcherOf is the watcher of a field, nil for none.
func WatcherOf(s Source) Watcher {
	if f, ok := s.(*Field); ok {
		return f.watcher
	}
	return nil
}

//go:build unix && !linux

package runner

// adopt does nothing: what a worker leaves behind in a session of its own goes on.
func adopt() {}

// awaitEnd returns at once: the end of a child cannot be seen without waiting for it.
func awaitEnd(int) {}

// reapGroup does nothing.
func reapGroup(int) {}

// endStrays does nothing.
func endStrays(string) {}

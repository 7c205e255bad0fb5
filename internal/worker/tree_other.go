//go:build !linux

package worker

// adopt does nothing: orphans of a worker in another session survive.
func adopt() {}

// hide does nothing: there are no peers.
func hide() {}

// awaitEnd returns at once: here the end of a child cannot be observed without reaping it.
func awaitEnd(int) {}

// reapGroup does nothing.
func reapGroup(int) {}

// endStrays does nothing.
func endStrays(string) {}

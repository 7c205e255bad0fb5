// Package worker starts a process for one cell of a run, sends it a task, follows its events, and
// ends it with all its children at a limit of time or memory. The runner calls it on both sides: Run
// in the parent, Serve in the worker. The package does not depend on the work of a task.
package worker

// Package runner runs workloads: it makes each input once, gives it to one
// worker process for each implementation, times and verifies there, enforces
// limits, and hands finished records on. It never looks inside an input or an
// answer, and has no word for where an implementation computes.
package runner

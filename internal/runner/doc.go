// Package runner runs workloads: it makes each input once, gives it to one worker process per
// implementation, times and verifies there, enforces limits, and passes on finished records. It
// never inspects an input or an answer, and does not know where an implementation computes.
package runner

// Package runner runs workloads. It makes each input once and shares it with one worker process per
// implementation. The worker times and verifies; the parent enforces limits and passes on finished
// records. The package never inspects an input or an answer, and does not depend on the device of
// an implementation. The commands run, verify and gate call it, and internal/report prints its
// records.
package runner

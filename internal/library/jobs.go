package library

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Jobs are running requests by the caller's numbers. The zero value has none.
type Jobs struct {
	mu    sync.Mutex
	jobs  map[uint64]*job
	limit limit
}

type job struct {
	cancel  context.CancelFunc
	over    chan struct{}
	answers []Answer
	err     error
}

var errNoJob = errors.New("no such job")

func (j *Jobs) find(id uint64) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if one, ok := j.jobs[id]; ok {
		return one, nil
	}
	return nil, errNoJob
}

// Start answers a request under a new number. The caller keeps the request's memory unchanged until
// Wait reports that the job is over. A brief job is over when Start returns, because another thread
// would take longer.
func (j *Jobs) Start(id uint64, e Effort, answer func(context.Context) ([]Answer, error)) error {
	ctx, cancel := context.WithCancel(context.Background())
	one := &job{cancel: cancel, over: make(chan struct{})}
	if err := j.add(id, one); err != nil {
		cancel()
		return err
	}
	run := func() {
		defer close(one.over)
		defer cancel()
		defer j.limit.enter(e)()
		one.answers, one.err = Caught(func() ([]Answer, error) { return answer(ctx) })
	}
	if e.Brief {
		run()
	} else {
		go run()
	}
	return nil
}

func (j *Jobs) add(id uint64, one *job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.jobs[id]; ok {
		return fmt.Errorf("job %d twice", id)
	}
	if j.jobs == nil {
		j.jobs = map[uint64]*job{}
	}
	j.jobs[id] = one
	return nil
}

// Wait reports whether a job is over, and waits at most the given time. An unknown job counts as
// over.
func (j *Jobs) Wait(id uint64, most time.Duration) bool {
	one, err := j.find(id)
	if err != nil {
		return true
	}
	select {
	case <-one.over:
		return true
	default:
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-one.over:
		return true
	case <-late.C:
		return false
	}
}

// Cancel makes a job end early.
func (j *Jobs) Cancel(id uint64) {
	if one, err := j.find(id); err == nil {
		one.cancel()
	}
}

// Answers returns the answers of a job, after it is over.
func (j *Jobs) Answers(id uint64) ([]Answer, error) {
	one, err := j.find(id)
	if err != nil {
		return nil, err
	}
	<-one.over
	return one.answers, one.err
}

// End cancels a job, and deletes it.
func (j *Jobs) End(id uint64) {
	j.Cancel(id)
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.jobs, id)
}

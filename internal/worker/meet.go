package worker

import (
	"crypto/rand"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/peers"
)

// Meet describes peers in parallel, and ends the processes that they leave behind.
func Meet(list []*peers.Peer) {
	adopt()
	mark := markKey + "=" + rand.Text()
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	crew.Each(len(list), func(i int) {
		free <- struct{}{}
		defer func() { <-free }()
		list[i].Describe(mark)
	})
	endStrays(mark)
}

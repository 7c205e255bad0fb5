//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"eccbench/impls/naive"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/workloads/ecc"
)

// ticks is the environment variable of a file whose length is the time of all guests, in microseconds.
const ticks = "ECCBENCH_TEST_TICKS"

// ticking runs eccbench with a clock of the workers that adds the time in the file of ticks to a metronome.
func ticking() {
	c := programWith(same)
	if beat := c.Clock; isWorker() {
		c.Clock = func() time.Time {
			info, err := os.Stat(os.Getenv(ticks))
			if err != nil {
				return beat()
			}
			return beat().Add(time.Duration(info.Size()) * time.Microsecond)
		}
	}
	os.Exit(eccbench(c, os.Args[1:]))
}

// guest returns a peer that answers by the definition, with an error of wrong at the first level. An answer
// takes pace microseconds by the clock of ticks, and up to 0.6 % more in some processes.
func guest(pace, wrong int64) func() {
	return func() {
		commands, replies := bufio.NewScanner(os.NewFile(3, "commands")), os.NewFile(4, "replies")
		bound := map[string]map[string]string{}
		for commands.Scan() {
			words := strings.Fields(commands.Text())
			reply := map[string]string{"ping": "pong", "bind": "ready", "free": "freed", "do": "done"}[words[0]]
			switch words[0] {
			case "about":
				reply = `about {"protocol": "` + peers.Protocol + `", "name": "guest", "version": "1", "method": "plays",` +
					` "where": "cpu", "answers": [{"workload": "ecc", "dtypes": ["uint8"]}]}`
			case "bind":
				bound[words[1]] = map[string]string{}
				for _, w := range words[2:] {
					key, value, _ := strings.Cut(w, "=")
					bound[words[1]][key] = value
				}
			case "do":
				if err := writeAnswer(bound[words[1]], pace, wrong); err != nil {
					reply = "failed " + err.Error()
				}
			case "end":
				return
			}
			fmt.Fprintln(replies, reply)
		}
	}
}

// writeAnswer answers a bound question: it writes the changes to the answer's file and adds the time to that of ticks.
func writeAnswer(words map[string]string, pace, wrong int64) error {
	const head = 4096
	image, err := os.ReadFile(words["image"])
	if err != nil {
		return err
	}
	levels, err := os.ReadFile(words["levels"])
	if err != nil {
		return err
	}
	_, text, _ := strings.Cut(string(image[:head]), "'shape': (")
	s := grid.Shape{D: 1}
	if n, _ := fmt.Sscanf(text, "%d, %d, %d", &s.D, &s.H, &s.W); n == 2 {
		s = grid.Shape{D: 1, H: s.D, W: s.H}
	}
	ladder, err := grid.Affine(float64(levels[head]), 1, int64(len(levels)-head))
	if err != nil {
		return err
	}
	f, err := grid.NewField(s, grid.Uint8, image[head:], ladder)
	if err != nil {
		return err
	}
	curve, err := bench.Answer[grid.Source, ecc.VCEC](naive.Implementation{}, f, bench.Conditions{})
	if err != nil {
		return err
	}
	changes := make([]int64, ladder.Len())
	for level, change := range curve.All() {
		changes[level] = change
	}
	changes[0] += wrong
	answer, err := os.OpenFile(words["answer"], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer answer.Close()
	if _, err := answer.WriteAt(grid.Bytes(changes), head); err != nil {
		return err
	}
	clock, err := os.OpenFile(os.Getenv(ticks), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer clock.Close()
	info, err := clock.Stat()
	if err != nil {
		return err
	}
	return clock.Truncate(info.Size() + pace + pace/1000*int64(os.Getpid()%7))
}

package main

import (
	"errors"

	"eccbench/internal/cli"
	"eccbench/internal/peers"
	"eccbench/internal/runner"
	"eccbench/internal/worker"
)

func workerCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "worker", Conducts: true, Brief: "run one cell for another eccbench", Hidden: true,
		Run: func(c *cli.Program, _ []string) error {
			err := runner.Work(func(p *peers.Peer) []runner.Bench {
				if p == nil {
					return c.Benches
				}
				return c.WithPeers(p).Benches
			}, c.Stdin, c.Clock)
			if errors.Is(err, worker.ErrNoTask) {
				return cli.Usage(err)
			}
			return err
		},
	}
}

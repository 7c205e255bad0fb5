package main

import (
	"eccbench/internal/runner"
)

func workerCommand() subcommand {
	return subcommand{
		name: "worker", brief: "run one cell for another eccbench", hidden: true,
		run: func(c *command, _ []string) error { return runner.Work(c.benches(), c.stdin) },
	}
}

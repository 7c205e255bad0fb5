package main

import (
	"errors"

	"eccbench/internal/runner"
)

func workerCommand() subcommand {
	return subcommand{
		name: "worker", brief: "run one cell for another eccbench", hidden: true,
		run: func(c *command, _ []string) error {
			err := runner.Work(c.benches(), c.stdin, c.clock)
			if errors.Is(err, runner.ErrNoTask) {
				return usageError{err}
			}
			return err
		},
	}
}

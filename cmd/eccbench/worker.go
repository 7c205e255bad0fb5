package main

import (
	"errors"

	"eccbench/internal/cli"
	"eccbench/internal/runner"
)

func workerCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "worker", Conducts: true, Brief: "run one cell for another eccbench", Hidden: true,
		Run: func(c *cli.Program, _ []string) error {
			err := runner.Work(c.Benches, c.Stdin, c.Clock)
			if errors.Is(err, runner.ErrNoTask) {
				return cli.Usage(err)
			}
			return err
		},
	}
}

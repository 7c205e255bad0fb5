package measure

import (
	"errors"

	"github.com/spf13/pflag"

	"eccbench/internal/cli"
	"eccbench/internal/peers"
	"eccbench/internal/runner"
	"eccbench/internal/worker"
)

// Worker returns the command worker.
func Worker() cli.Subcommand {
	return cli.Subcommand{
		Name: "worker", Conducts: true, Brief: "run one cell for another eccbench", Hidden: true,
		Run: func(c *cli.Program, _ *pflag.FlagSet, _ func() error) error {
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

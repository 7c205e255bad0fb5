package measure

import (
	"github.com/spf13/pflag"

	"eccbench/internal/cli"
	"eccbench/internal/peers"
)

// Serve returns the command serve.
func Serve() cli.Subcommand {
	return cli.Subcommand{
		Name: "serve", Args: "IMPL", Conducts: true,
		Brief: "answer as a peer with a CPU implementation",
		Examples: []string{
			"eccbench run --peer '/usr/bin/eccbench serve cpu' --sizes 128 --type uint8",
			"eccbench run --impl cpu,extrema --sizes 128 --type uint8",
		},
		Run: serve,
	}
}

// serve speaks the protocol of peers on descriptors 3 and 4.
func serve(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	if err := parse(); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return cli.Usagef("serve: want one implementation; eccbench list names them")
	}
	service := c.Service(f.Arg(0))
	if len(service) == 0 {
		return cli.Usagef("serve %s: no CPU implementation of this name answers a question of peers; "+
			"eccbench list names them", f.Arg(0))
	}
	about := func() peers.About {
		return peers.About{
			Protocol: peers.Protocol, Self: f.Arg(0), Version: cli.Version(), Method: "eccbench serve " + f.Arg(0),
			Language: "Go", Where: "cpu", Answers: service.Claims(), Bursts: true,
		}
	}
	if err := peers.Serve(about, service.Bind); err != nil {
		return cli.Usage(err)
	}
	return nil
}

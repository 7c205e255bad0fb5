package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/bench"
	"eccbench/internal/peers"
	"eccbench/internal/worker"
	"eccbench/internal/workloads/ecc/parts"
)

// Peers are the external programs that the flags name. Only flags can name a peer: no variable,
// file or record does.
type Peers struct {
	paths []string
	dir   string
	// Reply is the longest time of a description, 0 for the default.
	Reply time.Duration
	found []*peers.Peer
}

// Add adds the flags.
func (p *Peers) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&p.paths, "peer", nil, "external program as implementation peer:NAME, `PATH` or NAME=PATH, "+
		"with arguments or without; it runs with your rights; repeatable")
	f.StringVar(&p.dir, "peers", "", "every executable file in this `DIR` as a --peer")
}

// Join asks the peers for their descriptions and adds them to the program's implementations.
func (p *Peers) Join(c *Program, in *Inputs) error {
	if err := p.find(); err != nil || len(p.found) == 0 {
		return err
	}
	for _, q := range p.found {
		q.Limit = p.Reply
	}
	met := c.Following(false).Waiting("asking peers for their descriptions")
	worker.Meet(p.found)
	met()
	for i, q := range p.found {
		if slices.ContainsFunc(p.found[:i], func(o *peers.Peer) bool { return o.Name == q.Name }) {
			return Usagef("--peer %s: another peer is called %s, too; want --peer NAME=%s", q.Path, q.Name, q.Path)
		}
		if q.Broken != "" {
			fmt.Fprintf(c.Stderr, "eccbench: %s%s: %s\n", peers.Prefix, q.Name, q.Broken)
		}
	}
	c.Join(in, p.found...)
	return nil
}

// Join adds peers to the implementations of the program, and of the inputs unless they are nil.
func (c *Program) Join(in *Inputs, list ...*peers.Peer) {
	c.Set = c.WithPeers(list...)
	if in != nil {
		in.benches = c.Benches
	}
}

// Found returns the peers after Join.
func (p *Peers) Found() []*peers.Peer { return p.found }

func (p *Peers) find() error {
	for _, given := range p.paths {
		name, path, named := strings.Cut(given, "=")
		if !named || strings.Contains(name, "/") {
			name, path = "", given
		}
		q, err := peers.New(name, path)
		if err != nil {
			return Usagef("--peer %s: %w", given, err)
		}
		p.found = append(p.found, q)
	}
	if p.dir == "" {
		return nil
	}
	list, err := peers.In(p.dir)
	if err != nil {
		return Usagef("--peers %s: %w", p.dir, err)
	}
	p.found = append(p.found, list...)
	return nil
}

// without returns the names of the peers that are not among implementations.
func (p *Peers) without(abouts []bench.About) (names []string) {
	for _, q := range p.found {
		name := peers.Prefix + q.Name
		if !slices.ContainsFunc(abouts, func(a bench.About) bool { return a.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// flags returns the flags that name a peer, or "" for another implementation.
func (p *Peers) flags(impl string) string {
	for _, q := range p.found {
		if impl == peers.Prefix+q.Name {
			return " --peer " + parts.Quote(q.Name+"="+q.Command())
		}
	}
	return ""
}

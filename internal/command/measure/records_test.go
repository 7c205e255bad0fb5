package measure

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"eccbench/impls"
	"eccbench/internal/cli"
	"eccbench/internal/gating"
	"eccbench/internal/reproduce"
)

// TestMain makes the test binary a program with the commands that run workers, for the processes of those commands.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if c, command := programOfTest(os.Args[1]); command.Run != nil {
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
			os.Exit(c.Fail(command.Do(c, os.Args[2:])))
		}
	}
	os.Exit(m.Run())
}

// programOfTest returns the program, and its command of a name.
func programOfTest(name string) (*cli.Program, cli.Subcommand) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := &cli.Program{Set: impls.All(impls.Devices()), Worker: []string{self, "worker"}}
	for _, s := range []cli.Subcommand{Run(), Worker(), gating.Command(), reproduce.Command()} {
		if s.Name == name {
			return c, s
		}
	}
	return c, cli.Subcommand{}
}

// The records of each kind of run, and the result of a gate, keep their JSON Schemas.
func TestRecordsKeepTheirSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some dozen programs")
	}
	of := func(name string) *jsonschema.Schema {
		schema, err := jsonschema.NewCompiler().Compile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	records, result := of("bench/eccbench-1.schema.json"), of("gate/gate-1.schema.json")
	t.Chdir(t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const soon = " --max-time 5ms -q --out out.json"
	for _, line := range []string{
		"run --sizes 8..16 --impl naive,cpu", "run --sizes 8..16 --impl naive,cpu --resume",
		"run --sizes 20x15 --type uint8,int16,uint16,float32 --gen noise,grf,ball --impl cpu",
		"run --batch 5 --sizes 20x10,8x7x6 --impl cpu,extrema", "run --sizes 12 --processes 3 --impl cpu",
		"run --workload ecc-smooth --sizes 24x20 --iterations 1 --impl smooth",
		"run --workload softecc --sizes 12 --m 8 --lambda 1000 --alpha 0.05 --dir 3",
		"run --workload gvf --sizes 12 --type uint8 --steps 5",
		"run --sizes 100000 --dim 3 --impl cpu --memory-limit 1GiB",
		"paper wang2022 --table 1 --max-bytes 2MiB --time-limit 6s --check-time 100ms",
		"gate --base " + self + " --cand " + self + " --sizes 16 --levels 64 --blocks 1 --effect 900%",
	} {
		if !strings.Contains(line, "--resume") {
			os.Remove("out.json") // the first command has none
		}
		words := strings.Fields(line + soon)
		c, command := programOfTest(words[0])
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		runErr := command.Do(c, words[1:])
		data, err := os.ReadFile("out.json")
		if err != nil {
			t.Fatalf("eccbench %s: %v, %v: %s", line, runErr, err, &out)
		}
		schema, documents := records, bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		if words[0] == "gate" {
			schema, documents = result, [][]byte{data}
		} else if len(documents) < 3 {
			t.Errorf("eccbench %s: %d records: %v: %s", line, len(documents), runErr, &out)
		}
		for _, d := range documents {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(d))
			if err == nil {
				err = schema.Validate(v)
			}
			if err != nil {
				t.Errorf("eccbench %s: %v", line, err)
			}
		}
	}
}

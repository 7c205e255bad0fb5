package images

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"eccbench/internal/cli"
	"eccbench/internal/shard"
)

// The manifests for Kubernetes are valid jobs by its strict schema. A pod finds its shard in the
// environment of Kubernetes, and eccbench has the flags in them.
func TestKubernetes(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/kubernetes-job.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) map[string]any {
		text, err := os.ReadFile("../../../scripts/kubernetes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var job map[string]any
		if err := yaml.Unmarshal(text, &job); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(job); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return job
	}
	inner := func(of map[string]any, keys ...string) map[string]any {
		for _, k := range keys {
			next, ok := of[k].(map[string]any)
			if !ok {
				t.Fatalf("no %s in %v", k, slices.Sorted(maps.Keys(of)))
			}
			of = next
		}
		return of
	}
	for name, command := range map[string]cli.Subcommand{
		"curve.yaml": Curve(), "betti.yaml": Betti(), "merge.yaml": Merge(),
	} {
		var help bytes.Buffer
		if err := command.Do(&cli.Program{Stdout: &help}, []string{"--help"}); !errors.Is(err, pflag.ErrHelp) {
			t.Fatal(err)
		}
		job := read(name)
		pod := inner(job, "spec", "template", "spec")
		container := pod["containers"].([]any)[0].(map[string]any)
		if words := container["command"].([]any); words[0] != "eccbench" || words[1] != command.Name {
			t.Errorf("%s: command %v", name, words)
		}
		for _, arg := range container["args"].([]any) {
			flag, value, _ := strings.Cut(arg.(string), "=")
			if flag == "--shard" {
				n := inner(job, "spec")["completions"].(int)
				got, err := shard.Parse(value, func(key string) string {
					return map[string]string{"JOB_COMPLETION_INDEX": "0"}[key]
				})
				if err != nil || got != (shard.Shard{I: 1, N: int64(n)}) {
					t.Errorf("%s: the first of %d pods does shard %v, %v", name, n, got, err)
				}
			}
			if !strings.Contains(help.String(), flag+" ") {
				t.Errorf("%s: eccbench %s has no flag %s", name, command.Name, flag)
			}
		}
		// The schema rejects an unknown field, so the check above can fail.
		inner(job, "spec")["completion"] = 3
		if schema.Validate(job) == nil {
			t.Errorf("%s: a field that there is not is let pass", name)
		}
	}
}

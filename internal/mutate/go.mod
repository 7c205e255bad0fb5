module eccbench/internal/mutate

go 1.26.0

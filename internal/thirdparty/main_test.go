package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// Licences are recognised by their phrases. Licences that require source code are errors.
func TestKinds(t *testing.T) {
	for text, want := range map[string][]string{
		"Permission is hereby granted,\n  free of charge, to any person":           {"MIT"},
		"MIT and Apache: Licensed under the Apache License,\nVersion 2.0 (…)":      {"Apache-2.0"},
		"Copyright (c) 2009. Redistribution and use in source and binary forms, …": {"BSD"},
		"Copyright of a notice": nil,
	} {
		if got, err := kindsOf(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q (%v), want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "All rights reserved.",
		"Copyright (C) 2007 Free Software Foundation\nGNU GENERAL PUBLIC LICENSE\nVersion 3",
	} {
		if got, err := kindsOf(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}

// The bill of materials of a program has the modules that it was built of.
func TestBill(t *testing.T) {
	var text bytes.Buffer
	if err := bill(&text, os.Args[0]); err != nil {
		t.Fatal(err)
	}
	var b struct {
		BOMFormat  string
		Components []component
	}
	if err := json.Unmarshal(text.Bytes(), &b); err != nil || b.BOMFormat != "CycloneDX" ||
		len(b.Components) == 0 || b.Components[0].Name != "std" {
		t.Errorf("%s (%v)", &text, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

// pprofcheck reads profiles with Google's own library and says what it makes of them: one line a file, with the sums of
// every sample type, so that they can be compared with another reader's. Exits 1 when a file is refused.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/google/pprof/profile"
)

func check(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	if err := p.CheckValid(); err != nil {
		return "", err
	}
	sums := make([]int64, len(p.SampleType))
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
	}
	var out []string
	for i, t := range p.SampleType {
		out = append(out, fmt.Sprintf("%s=%d", t.Type, sums[i]))
	}
	// Compact would also fold the same code of two processes into one, so what nobody uses is counted here.
	used := map[uint64]bool{}
	for _, s := range p.Sample {
		for _, l := range s.Location {
			used[l.ID] = true
		}
	}
	if len(used) != len(p.Location) {
		return "", fmt.Errorf("%d of %d locations are unused", len(p.Location)-len(used), len(p.Location))
	}
	// It must survive being written again by the library.
	var again bytes.Buffer
	if err := p.Compact().Write(&again); err != nil {
		return "", err
	}
	if _, err := profile.Parse(&again); err != nil {
		return "", err
	}
	return strings.Join(out, " "), nil
}

func main() {
	refused := 0
	for _, path := range os.Args[1:] {
		sums, err := check(path)
		if err != nil {
			refused++
			fmt.Printf("refused %s: %v\n", path, err)
			continue
		}
		fmt.Printf("valid %s: %s\n", path, sums)
	}
	if refused > 0 {
		os.Exit(1)
	}
}

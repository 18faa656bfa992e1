// SPDX-License-Identifier: Apache-2.0
// chain-go SECONDS: main.main calls ring, pull, strike; Go keeps frame pointers by default.
package main

import (
	"os"
	"strconv"
	"time"
)

var sink uint64

//go:noinline
func strike(x uint64, end time.Time) uint64 {
	for time.Now().Before(end) {
		for i := 0; i < 400000; i++ {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
	}
	sink = x
	return x
}

//go:noinline
func pull(x uint64, end time.Time) uint64 {
	x = strike(x, end)
	sink = x
	return x + 1
}

//go:noinline
func ring(x uint64, end time.Time) uint64 {
	x = pull(x, end)
	sink = x
	return x + 1
}

func main() {
	seconds := 3.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	sink = ring(7, time.Now().Add(time.Duration(seconds*float64(time.Second))))
}

// SPDX-License-Identifier: Apache-2.0
// chain-rust SECONDS: modules, a trait method and a generic function; names must come out demangled.
use std::hint::black_box;
use std::time::{Duration, Instant};

mod tower {
    use super::*;

    pub trait Strike {
        fn strike(&self, x: u64, end: Instant) -> u64;
    }

    pub struct Bell;

    impl Strike for Bell {
        #[inline(never)]
        fn strike(&self, mut x: u64, end: Instant) -> u64 {
            while Instant::now() < end {
                for _ in 0..400_000 {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    x = black_box(x);
                }
            }
            x
        }
    }

    #[inline(never)]
    pub fn pull<S: Strike>(s: &S, x: u64, end: Instant) -> u64 {
        black_box(s.strike(x, end)) + 1
    }

    #[inline(never)]
    pub fn ring(x: u64, end: Instant) -> u64 {
        black_box(pull(&Bell, x, end)) + 1
    }
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(3.0);
    black_box(tower::ring(7, Instant::now() + Duration::from_secs_f64(seconds)));
}

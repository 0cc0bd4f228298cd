// dice: throws that are the same for the same seed, everywhere.

/** Mulberry32: small, and the same everywhere. */
export function dice(from: number): (below: number) => number {
  let state = from >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);

    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

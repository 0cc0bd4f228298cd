/** A seeded source of chance: the same seed, the same run. */
export type Chance = {
  readonly below: (n: number) => number;
  readonly isTrue: (probability: number) => boolean;
};

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);

    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };

  return { below: (n) => Math.floor(next() * n), isTrue: (probability) => next() < probability };
}

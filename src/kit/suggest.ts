// suggest: suggests the closest known word for a misspelt one, for "Did you mean …?".

const wordCharactersMax = 64;

/** The candidate nearest to a misspelt word, or null if none is near enough to be meant. */
export function suggest(word: string, candidates: Iterable<string>): string | null {
  if (word.length === 0 || word.length > wordCharactersMax) return null;
  const distanceMax = Math.max(1, Math.floor(word.length / 3));
  let best: string | null = null;
  let bestDistance = distanceMax + 1;

  for (const candidate of candidates) {
    if (candidate === word || candidate.length > wordCharactersMax) continue;
    const distance = editDistance(
      word.toLowerCase().replaceAll("-", "_"),
      candidate.toLowerCase().replaceAll("-", "_"),
    );
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }

  return best;
}

/** ` Did you mean …?` if a candidate is near, else an empty text: to be put behind a sentence. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const suggestion = suggest(word, candidates);
  return suggestion === null ? "" : ` Did you mean ${suggestion}?`;
}

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one
 * word into the other.
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);

  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );

      const isSwap =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1];
      if (isSwap) distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      current.push(distance);
    }

    beforeLast = last;
    last = current;
  }

  return last[to.length] ?? 0;
}

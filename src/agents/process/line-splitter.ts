// line-splitter: splits a byte stream into lines and holds at most one line's limit in memory.

/** Puts the lines of a byte stream together, holding no more than one line's limit in memory. */
export function lineSplitter(
  lineBytesMax: number,
  take: (line: Buffer) => void,
  tooLong: () => void,
): { readonly push: (chunk: Buffer) => void; readonly drop: () => void } {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isOpen = true;
  const finish = (end: Buffer): void => {
    const line = held.length === 0 ? end : Buffer.concat([...held, end]);
    held = [];
    heldBytes = 0;
    if (line.length > 0) take(line);
  };
  return {
    push: (chunk: Buffer): void => {
      let from = 0;
      for (;;) {
        const index = chunk.indexOf(10, from);
        const end = index === -1 ? chunk.length : index;
        if (!isOpen || from >= chunk.length) return;
        if (heldBytes + end - from > lineBytesMax) return tooLong();
        if (index === -1) break;
        finish(chunk.subarray(from, index));
        from = index + 1;
      }
      held.push(chunk.subarray(from));
      heldBytes += chunk.length - from;
    },
    drop: (): void => {
      isOpen = false;
      held = [];
      heldBytes = 0;
    },
  };
}

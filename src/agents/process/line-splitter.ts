// line-splitter: splits a byte stream into lines and holds at most one line's limit in memory.

/** Puts the lines of a byte stream together, holding no more than one line's limit in memory. */
export function createLineSplitter(
  lineBytesMax: number,
  take: (line: Buffer) => void,
  tooLong: () => void,
): { readonly push: (chunk: Buffer) => void; readonly drop: () => void } {
  let chunks: Buffer[] = [];
  let bufferedBytes = 0;
  let isOpen = true;
  const finish = (end: Buffer): void => {
    const line = chunks.length === 0 ? end : Buffer.concat([...chunks, end]);
    chunks = [];
    bufferedBytes = 0;
    if (line.length > 0) take(line);
  };
  return {
    push: (chunk: Buffer): void => {
      let from = 0;
      for (;;) {
        const index = chunk.indexOf(10, from);
        const end = index === -1 ? chunk.length : index;
        if (!isOpen || from >= chunk.length) return;
        if (bufferedBytes + end - from > lineBytesMax) return tooLong();
        if (index === -1) break;
        finish(chunk.subarray(from, index));
        from = index + 1;
      }
      chunks.push(chunk.subarray(from));
      bufferedBytes += chunk.length - from;
    },
    drop: (): void => {
      isOpen = false;
      chunks = [];
      bufferedBytes = 0;
    },
  };
}

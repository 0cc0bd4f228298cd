// line-splitter: splits a byte stream into lines. It keeps at most one line in memory, and that
// only up to a limit.

const lineFeed = 10;

/**
 * `onLine` gets each line that isn't empty; `onTooLong` is called when a line exceeds the limit.
 * `drop` stops everything.
 */
export function createLineSplitter(
  lineBytesMax: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
): { readonly push: (chunk: Buffer) => void; readonly drop: () => void } {
  let chunks: Buffer[] = [];
  let bufferedBytes = 0;
  let isOpen = true;

  const finish = (end: Buffer): void => {
    const line = chunks.length === 0 ? end : Buffer.concat([...chunks, end]);
    chunks = [];
    bufferedBytes = 0;
    if (line.length > 0) onLine(line);
  };

  return {
    push: (chunk: Buffer): void => {
      let from = 0;
      for (;;) {
        const index = chunk.indexOf(lineFeed, from);
        const end = index === -1 ? chunk.length : index;
        if (!isOpen || from >= chunk.length) return;
        if (bufferedBytes + end - from > lineBytesMax) return onTooLong();
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

// question-hash: binds an answer to the question as it was shown.

import { sha256 } from "./sha256.ts";

/** An answer with the hash of another question than the one that is open is refused. */
export const hashQuestion = (run: string, block: string, question: string): string =>
  sha256([run, block, question].join("\0")).slice(0, 16);

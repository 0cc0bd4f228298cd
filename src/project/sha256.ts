// sha256: the SHA-256 hash of a text or of bytes, as hexadecimal digits.

import { createHash } from "node:crypto";

export const sha256 = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

// read-document: reads a document of the project: only a regular file, which may not itself be a
// link, and up to a size limit.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { decodeDocument, documentTextBytesMax } from "../../documents/document-text.ts";
import { errorCode } from "../../journal/journal-failure.ts";
import type { Finding } from "../../kit/finding.ts";

/** `text` is without a byte order mark; `bytes` are the file as it is on disk. */
export type DocumentResult =
  | { readonly text: string; readonly bytes: Buffer }
  | { readonly findings: readonly Finding[] };

/**
 * A document of the project as text; null if there is none. A link, folder, device or socket is
 * reported, not read.
 */
export function readDocument(root: string, path: string): DocumentResult | null {
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    fd = openSync(
      join(root, path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code === "ELOOP") return notAFile(path, "a link");
    if (code === "EACCES" || code === "EPERM") return notAFile(path, "a file that may not be read");
    if (code === "ENXIO") return notAFile(path, "a socket");
    throw error;
  }

  try {
    if (!fstatSync(fd).isFile()) return notAFile(path, "something else");
    // One byte more than allowed is enough to see that the document is too large.
    const bytes = readUpTo(fd, Math.min(fstatSync(fd).size, documentTextBytesMax + 1));
    const result = decodeDocument(path, bytes);

    return "findings" in result ? result : { text: result.text, bytes };
  } finally {
    closeSync(fd);
  }
}

/** One read may return less than was asked for, so it is repeated until the end. */
function readUpTo(fd: number, bytesMax: number): Buffer {
  const bytes = Buffer.alloc(bytesMax);
  let size = 0;
  while (size < bytesMax) {
    const bytesRead = readSync(fd, bytes, size, bytesMax - size, null);
    if (bytesRead === 0) break;
    size += bytesRead;
  }

  return bytes.subarray(0, size);
}

function notAFile(file: string, kind: string): { readonly findings: readonly Finding[] } {
  const message = `found ${kind}, expected a regular file`;
  return {
    findings: [
      { file, line: 1, column: 1, path: "", rule: "not_a_file", message, severity: "error" },
    ],
  };
}

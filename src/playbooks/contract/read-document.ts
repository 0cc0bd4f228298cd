// read-document: a document of the project's, read with care: no link is followed, nothing but a regular file is read, and not without end.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { documentText, documentTextBytesMax } from "../../documents/document-text.ts";
import { errorCode } from "../../journal/failure.ts";
import type { Finding } from "../../kit/finding.ts";

/** `text` is without a byte order mark; `bytes` are as they lie. */
export type DocumentFound = { readonly text: string; readonly bytes: Buffer } | { readonly findings: readonly Finding[] };

/** A document of the project as text; null if there is none. A link, a folder or a device is reported, not read. */
export function readDocument(root: string, path: string): DocumentFound | null {
  let fd: number;
  try {
    fd = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code === "ELOOP") return notFile(path, "a link");
    if (code === "EACCES" || code === "EPERM") return notFile(path, "a file that may not be read");
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) return notFile(path, "something else");
    const bytes = Buffer.alloc(Math.min(fstatSync(fd).size, documentTextBytesMax + 1));
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read) read = readSync(fd, bytes, size, bytes.length - size, null);
    const whole = bytes.subarray(0, size);
    const read = documentText(path, whole);
    return "findings" in read ? read : { text: read.text, bytes: whole };
  } finally {
    closeSync(fd);
  }
}

function notFile(file: string, found: string): { readonly findings: readonly Finding[] } {
  const message = `found ${found}, expected a regular file`;
  return { findings: [{ file, line: 1, column: 1, path: "", rule: "not_a_file", message, severity: "error" }] };
}

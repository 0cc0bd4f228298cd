// string-sizes: counts the bytes of a JSON text's strings by what their key says they are: text, an
// attachment, or neither.

import { hashName } from "./key-tree.ts";

export type StringSizeOptions = {
  /** Keys whose strings are text. */
  readonly texts: readonly string[];
  /**
   * Keys whose strings are files or images: the part beyond `attachmentBytesMax` of each is counted
   * separately.
   */
  readonly attachments?: readonly string[];
  readonly attachmentBytesMax?: number;
};

export type StringSizes = {
  /** A string begins that is the value of this key. */
  readonly begin: (keyHash: number) => void;
  /** So many bytes of it were read. */
  readonly add: (bytes: number) => void;
  readonly textBytes: () => number;
  readonly attachmentBytes: () => number;
};

export function openStringSizes(options: StringSizeOptions): StringSizes {
  const textKeys = new Set(options.texts.map(hashName));
  const attachmentKeys = new Set((options.attachments ?? []).map(hashName));
  const attachmentMax = options.attachmentBytesMax ?? Infinity;
  let kind: "text" | "attachment" | "other" = "other";
  let stringBytes = 0;
  let textBytes = 0;
  let attachmentBytes = 0;

  function findKind(keyHash: number): typeof kind {
    if (textKeys.has(keyHash)) return "text";
    return attachmentKeys.has(keyHash) ? "attachment" : "other";
  }

  function addToAttachment(bytes: number): void {
    stringBytes += bytes;
    const excess = stringBytes - attachmentMax;
    if (excess > 0) attachmentBytes += Math.min(bytes, excess);
  }

  return {
    begin: (keyHash) => {
      kind = findKind(keyHash);
      stringBytes = 0;
    },
    add: (bytes) => {
      if (kind === "text") textBytes += bytes;
      if (kind === "attachment") addToAttachment(bytes);
    },
    textBytes: () => textBytes,
    attachmentBytes: () => attachmentBytes,
  };
}

// vendor: what one model API is to the server: how a request is read, and how answers and refusals
// look on the wire.

import type { Answer } from "./answer.ts";
import type { Asked } from "./conversation.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Refusal } from "./script.ts";

export type Refused = { readonly headers: Readonly<Record<string, string>>; readonly body: Json };

export type Vendor = {
  readonly read: (body: JsonObject, url: URL) => Asked;
  /** The frames of a stream, as they go over the wire. */
  readonly frames: (answer: Answer, asked: Asked, url: URL) => Iterable<string>;
  readonly whole: (answer: Answer) => Json;
  readonly refused: (refusal: Refusal, nowMs: number) => Refused;
  /** A refusal in mid-stream. */
  readonly brokenFrame: (refusal: Refusal, nowMs: number) => string;
};

export const event = (name: string, data: Json): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
export const data = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`;

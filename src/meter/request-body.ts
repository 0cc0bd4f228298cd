// request-body: reads an agent's request, up to a limit, and finds its model and whether the answer
// streams.

import type { IncomingMessage } from "node:http";
import { asRecord } from "./dialects.ts";
import { openJsonScan } from "./json-scan.ts";
import { attachmentBytesMax, heldRequestsBytesMax, requestBytesMax } from "./limits.ts";
import type { Refusal } from "./refusal.ts";

export type RequestBody = {
  readonly chunks: readonly Buffer[];
  readonly bytes: number;
  /** What the provider will count, as far as bytes show: without most of an image or a file. */
  readonly countedBytes: number;
  readonly model: string | null;
  readonly isStream: boolean;
  readonly isBackground: boolean;
  /** `stream_options` as it stands in the request: its value, and where its bytes are. */
  readonly streamOptions: {
    readonly value: unknown;
    readonly position: number;
    readonly bytes: number;
  } | null;
  /** Releases its memory. */
  readonly release: () => void;
};

const paths = {
  model: ["model"],
  stream: ["stream"],
  background: ["background"],
  streamOptions: ["stream_options"],
} as const;

/** The bytes of all requests that a meter has in memory. */
export type HeldBytes = { bytes: number };

/**
 * Reads a request to its end, or refuses it. `held` grows by what is kept in memory, until
 * `release`.
 */
export function readRequest(
  request: IncomingMessage,
  held: HeldBytes,
): Promise<RequestBody | Refusal> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > requestBytesMax) return Promise.resolve(tooLarge);
  return new Promise((resolve) => new RequestReader(request, held, resolve).start());
}

/** Fields that hold the bytes of an image, a file or an earlier answer. */
const attachmentFields = [
  "data",
  "url",
  "image_url",
  "file_data",
  "signature",
  "thoughtSignature",
  "encrypted_content",
];

class RequestReader {
  readonly #request: IncomingMessage;
  readonly #held: HeldBytes;
  readonly #resolve: (answer: RequestBody | Refusal) => void;
  readonly #chunks: Buffer[] = [];
  readonly #values = new Map<
    readonly string[],
    { readonly text: string; readonly position: number }
  >();
  readonly #scan: ReturnType<typeof openJsonScan>;
  #bytes = 0;
  #refusal: Refusal | null = null;
  #isOver = false;

  constructor(
    request: IncomingMessage,
    held: HeldBytes,
    resolve: (answer: RequestBody | Refusal) => void,
  ) {
    this.#request = request;
    this.#held = held;
    this.#resolve = resolve;
    this.#scan = openJsonScan({
      values: Object.values(paths),
      texts: [],
      attachments: attachmentFields,
      attachmentBytesMax,
      onValue: (path, text, position) => this.#onValue(path, text, position),
      onDisguise: () =>
        this.#refuse("A key of the request is written with an escape; write it plainly."),
    });
  }

  start(): void {
    this.#request.on("data", (chunk: Buffer) => this.#onChunk(chunk));
    this.#request.on("end", () => this.#end(this.#refusal ?? this.#toBody()));
    this.#request.on("close", () => this.#end({ status: 400, sentence: "The request broke off." }));
  }

  #onValue(path: readonly string[], text: string, position: number): void {
    // Of a duplicate key, this program and the provider might each use another.
    if (this.#values.has(path)) this.#refuse(`The request names "${path.join(".")}" twice.`);
    this.#values.set(path, { text, position });
  }

  /** The first fault of a wrong request is what its agent is told. */
  #refuse(sentence: string): void {
    this.#refusal ??= { status: 400, sentence };
  }

  #onChunk(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    this.#held.bytes += chunk.length;

    if (this.#bytes > requestBytesMax) this.#refusal = tooLarge;
    else if (this.#held.bytes > heldRequestsBytesMax) this.#refusal = tooManyLarge;

    // A request that is only wrong (400) is read to its end, so that the agent gets to read the
    // answer.
    if (this.#refusal !== null && this.#refusal.status !== 400) {
      this.#request.pause();
      return this.#end(this.#refusal);
    }

    this.#chunks.push(chunk);
    this.#scan.feed(chunk);
  }

  #end(answer: RequestBody | Refusal): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if ("status" in answer) this.#release();
    this.#resolve(answer);
  }

  #release(): void {
    this.#held.bytes -= this.#bytes;
    this.#bytes = 0;
    this.#chunks.length = 0;
  }

  #toBody(): RequestBody {
    const model = this.#parseValue(paths.model);
    return {
      chunks: this.#chunks,
      bytes: this.#bytes,
      countedBytes: this.#bytes - this.#scan.attachmentBytes(),
      model: typeof model === "string" ? model : null,
      isStream: this.#parseValue(paths.stream) === true,
      isBackground: this.#parseValue(paths.background) === true,
      streamOptions: this.#readStreamOptions(),
      release: () => this.#release(),
    };
  }

  #readStreamOptions(): RequestBody["streamOptions"] {
    const options = this.#values.get(paths.streamOptions);
    if (options === undefined) return null;

    const { text, position } = options;
    return { value: parseJson(text), position, bytes: Buffer.byteLength(text) };
  }

  #parseValue(path: readonly string[]): unknown {
    return parseJson(this.#values.get(path)?.text);
  }
}

const tooManyLarge: Refusal = {
  status: 429,
  sentence: "Too many large requests at once; this one may be tried again.",
};
const tooLarge: Refusal = {
  status: 413,
  sentence: `The request is larger than ${requestBytesMax / 1024 / 1024} MiB.`,
};

function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The same request, asking for figures at the end of the stream; unchanged if it asks for them
 * itself.
 */
export function addUsageRequest(body: RequestBody): readonly Buffer[] {
  const options = body.streamOptions;
  if (asRecord(options?.value)["include_usage"] === true) return body.chunks;
  const whole = Buffer.concat(body.chunks);
  const streamOptions = { ...asRecord(options?.value), include_usage: true };

  if (options !== null) {
    return [
      whole.subarray(0, options.position),
      Buffer.from(JSON.stringify(streamOptions)),
      whole.subarray(options.position + options.bytes),
    ];
  }

  // The comma behind it is right: a request that got this far has at least its model.
  const start = whole.indexOf("{") + 1;
  return [
    whole.subarray(0, start),
    Buffer.from(`"stream_options":${JSON.stringify(streamOptions)},`),
    whole.subarray(start),
  ];
}

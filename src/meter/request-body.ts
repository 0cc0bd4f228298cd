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
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const values = new Map<
      readonly string[],
      { readonly text: string; readonly position: number }
    >();

    let bytes = 0;
    let refusal: Refusal | null = null;
    let isOver = false;

    const release = (): void => {
      held.bytes -= bytes;
      bytes = 0;
      chunks.length = 0;
    };

    const scan = openJsonScan({
      values: Object.values(paths),
      texts: [],
      attachments: [
        "data",
        "url",
        "image_url",
        "file_data",
        "signature",
        "thoughtSignature",
        "encrypted_content",
      ],
      attachmentBytesMax,
      onValue: (path, text, position) => {
        // Of a duplicate key, this program and the provider might each use another.
        if (values.has(path)) {
          refusal ??= { status: 400, sentence: `The request names "${path.join(".")}" twice.` };
        }

        values.set(path, { text, position });
      },
      onDisguise: () =>
        (refusal ??= {
          status: 400,
          sentence: "A key of the request is written with an escape; write it plainly.",
        }),
    });

    const end = (answer: RequestBody | Refusal): void => {
      if (isOver) return;
      isOver = true;
      if ("status" in answer) release();
      resolve(answer);
    };

    request.on("data", (chunk: Buffer) => {
      if (isOver) return;
      bytes += chunk.length;
      held.bytes += chunk.length;

      if (bytes > requestBytesMax) {
        refusal = tooLarge;
      } else if (held.bytes > heldRequestsBytesMax) {
        refusal = {
          status: 429,
          sentence: "Too many large requests at once; this one may be tried again.",
        };
      }

      // A request that is only wrong (400) is read to its end, so that the agent gets to read the
      // answer.
      if (refusal !== null && refusal.status !== 400) {
        request.pause();
        return end(refusal);
      }

      chunks.push(chunk);
      scan.feed(chunk);
    });

    request.on("end", () => {
      if (refusal !== null) return end(refusal);
      const parseValue = (path: readonly string[]): unknown => parseJson(values.get(path)?.text);
      const options = values.get(paths.streamOptions);
      const model = parseValue(paths.model);
      end({
        chunks,
        bytes,
        countedBytes: bytes - scan.attachmentBytes(),
        model: typeof model === "string" ? model : null,
        isStream: parseValue(paths.stream) === true,
        isBackground: parseValue(paths.background) === true,
        streamOptions:
          options === undefined
            ? null
            : {
                value: parseValue(paths.streamOptions),
                position: options.position,
                bytes: Buffer.byteLength(options.text),
              },
        release,
      });
    });

    request.on("close", () => end({ status: 400, sentence: "The request broke off." }));
  });
}

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

// serve: runs the MCP server on stdin and stdout, until the client closes its end or the person
// interrupts. Nothing else is written to stdout.

import type { Readable } from "node:stream";
import { openMcpServer } from "../../commands/mcp/server.ts";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";

const lineCharsMax = 4 * 1024 * 1024;
/** What is answered to a longer one. */
const tooLong =
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: the message is too long"}}';

export type McpInput = { readonly grants: readonly string[]; readonly from?: Readable };

export function serveMcp(
  context: CommandContext,
  { grants, from = process.stdin }: McpInput,
  print: (line: string) => void,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const handleLine = openMcpServer(context, grants);
    const pending = new Set<Promise<void>>();

    const answerLine = (line: string): void => {
      const work = handleLine(line).then((reply) => {
        if (reply !== null) print(reply);
      });
      const settled = work.finally(() => pending.delete(settled));
      pending.add(settled);
    };
    await readLines(from, context.interrupted, answerLine, () => print(tooLong));
    if (!context.interrupted.aborted) await Promise.all(pending); // what was asked for is answered even if nothing more comes

    return respond("ok", { message: "", page: [] });
  });
}

/** Whole lines, each bounded; one that is too long is reported once and skipped. */
function readLines(
  from: Readable,
  interrupted: AbortSignal,
  answerLine: (line: string) => void,
  onTooLong: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let partialLine = "";
    let isSkipping = false;
    const endReading = (): void => {
      from.destroy();
      resolve();
    };
    if (interrupted.aborted) return endReading();
    interrupted.addEventListener("abort", endReading, { once: true });
    from.setEncoding("utf8");
    from.on("data", (piece: string) => {
      const lines = (partialLine + piece).split("\n");
      partialLine = lines.pop() ?? "";

      for (const line of lines) {
        if (!isSkipping) answerLine(line);
        isSkipping = false;
      }

      if (partialLine.length <= lineCharsMax) return;
      if (!isSkipping) onTooLong();
      isSkipping = true;
      partialLine = "";
    });

    from.once("end", () => {
      if (!isSkipping && partialLine.trim() !== "") answerLine(partialLine);
      resolve();
    });

    from.once("error", reject);
  });
}

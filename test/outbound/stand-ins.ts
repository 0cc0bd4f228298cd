// stand-ins: receivers on loopback that keep what they get: any HTTP receiver, and a mail server as
// small as curl needs it.

import { createServer as createHttp, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterEach } from "vitest";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string> }
  | "hang";

/** What it answers may change from request to request. */
export async function receiver(
  answer: (got: Received) => Answer = () => ({ status: 200 }),
): Promise<{
  readonly url: string;
  readonly got: Received[];
  readonly close: () => Promise<void>;
}> {
  const got: Received[] = [];
  const server = createHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      const body = (
        request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes
      ).toString("utf8");

      const received = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body,
      };
      got.push(received);
      const said = answer(received);
      if (said !== "hang") response.writeHead(said.status, said.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  closing.push(close);

  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got, close };
}

/** Takes mail without looking at it. */
export async function mailServer(): Promise<{ readonly url: string; readonly mails: string[] }> {
  const mails: string[] = [];
  const server = createTcp((socket) => {
    let text = "";
    let isData = false;
    socket
      .on("error", () => undefined)
      .setEncoding("utf8")
      .write("220 stand-in\r\n");

    socket.on("data", (chunk: string) => {
      text += chunk;
      for (;;) {
        const end = text.indexOf(isData ? "\r\n.\r\n" : "\r\n");
        if (end < 0) return;
        const part = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (isData) mails.push(part);
        const isQuit = !isData && /^QUIT/i.test(part);
        const isBegin = !isData && /^DATA/i.test(part);
        socket.write(isBegin ? "354 go on\r\n" : isQuit ? "221 bye\r\n" : "250 fine\r\n");
        isData = isBegin;
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));

  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, mails };
}

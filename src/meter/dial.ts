// dial: opens connections to providers, and keeps them open between calls.

import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";

/** Kept open per provider. */
const idleConnectionsMax = 16;

export type DialRequest = {
  readonly url: URL;
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly onAnswer: (incoming: IncomingMessage) => void;
};
/** The way to providers; `close` ends the connections that are kept open. */
export type Dial = {
  readonly call: (request: DialRequest) => ClientRequest;
  readonly close: () => void;
};

export function openDial(): Dial {
  // Last in, first out: the connection used last is the least likely to have been closed by the
  // provider.
  const options = {
    keepAlive: true,
    maxFreeSockets: idleConnectionsMax,
    scheduling: "lifo",
  } as const;
  const plain = new HttpAgent(options);
  // Whatever the environment says about certificates: a key is sent only to a server with a valid
  // one.
  const secure = new HttpsAgent({ ...options, rejectUnauthorized: true });

  return {
    call: ({ url, method, headers, onAnswer }) => {
      const isSecure = url.protocol === "https:";
      const request = isSecure
        ? requestHttps(url, { method, headers, agent: secure }, onAnswer)
        : requestHttp(url, { method, headers, agent: plain }, onAnswer);
      request.setNoDelay(true);

      return request;
    },
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

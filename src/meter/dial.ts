// dial: opens connections to providers, and keeps them open between calls.

import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";

export type DialRequest = {
  readonly url: URL;
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly onAnswer: (incoming: IncomingMessage) => void;
};
export type Dial = { readonly call: (request: DialRequest) => ClientRequest; readonly close: () => void };

export function openDial(): Dial {
  const options = { keepAlive: true, maxFreeSockets: 16, scheduling: "lifo" } as const;
  const plain = new HttpAgent(options);
  // Whatever the environment says about certificates: a key is sent only to a server with a valid one.
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

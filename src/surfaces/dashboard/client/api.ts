// api: the page's calls to its server: the token from the URL's fragment, facts, requests, and the
// stream of change notices.
//
// Invariants:
//   A1. The token is taken out of the address at once, kept in this tab alone, and sent in a header
//       only.

const tokenKey = "autopilot.token";
const unlockKey = "autopilot.unlock";
/** `#` and 32 characters, as the link that the terminal shows has it. */
const tokenPattern = /^#?([A-Za-z0-9_-]{32})$/;

/** The server refused a request; the message is the server's. */
export class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Takes a token out of the address, if there is one. A1 */
export function takeTokenFromAddress(): boolean {
  const token = tokenPattern.exec(location.hash)?.[1];
  if (token === undefined) return false;
  sessionStorage.setItem(tokenKey, token);
  sessionStorage.removeItem(unlockKey);
  history.replaceState(null, "", `${location.pathname}#now`);

  return true;
}

const headers = (): Record<string, string> => {
  const unlock = sessionStorage.getItem(unlockKey);
  return {
    authorization: `Bearer ${sessionStorage.getItem(tokenKey) ?? ""}`,
    ...(unlock === null ? {} : { "x-unlock": unlock }),
  };
};

export const isUnlocked = (): boolean => sessionStorage.getItem(unlockKey) !== null;

export async function fetchFacts<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<T> {
  const words = new URLSearchParams(query).toString();
  const response = await fetch(`/api/${path}${words === "" ? "" : `?${words}`}`, {
    headers: headers(),
    cache: "no-store",
  });
  return readJson<T>(response);
}

export type ChangeResponse = {
  readonly result: "PASS" | "WARN" | "FAIL";
  readonly reason_code: string;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly remediation: readonly string[];
};

export const postRequest = (body: object): Promise<ChangeResponse> =>
  post<ChangeResponse>("request", body);

export async function unlock(code: string): Promise<void> {
  const { key } = await post<{ readonly key: string }>("unlock", { code });
  sessionStorage.setItem(unlockKey, key);
}

async function post<T>(path: string, body: object): Promise<T> {
  const response = await fetch(`/api/${path}`, {
    method: "POST",
    headers: { ...headers(), "content-type": "application/json" },
    body: JSON.stringify(body),
    cache: "no-store",
  });
  return readJson<T>(response);
}

async function readJson<T>(response: Response): Promise<T> {
  const body = (await response.json().catch(() => ({}))) as { readonly says?: string };
  if (!response.ok) {
    throw new Refused(response.status, body.says ?? `The server answered ${response.status}.`);
  }

  return body as T;
}

/**
 * Calls back with the keys that changed, and throws when the stream ends. Uses fetch, because
 * EventSource can't send the token.
 */
export async function followChanges(
  onChange: (changed: readonly string[]) => void,
  signal: AbortSignal,
): Promise<never> {
  const response = await fetch("/api/events", { headers: headers(), cache: "no-store", signal });
  if (!response.ok || response.body === null) await readJson<never>(response);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let unread = "";

  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the stream ended");
    unread += decoder.decode(value, { stream: true });
    const messages = unread.split("\n\n");
    unread = messages.pop() ?? "";

    for (const message of messages) {
      if (message.startsWith("data: ")) {
        onChange((JSON.parse(message.slice(6)) as { readonly changed: readonly string[] }).changed);
      }
    }
  }
}

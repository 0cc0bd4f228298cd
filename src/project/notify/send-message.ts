// send-message: sends one message to one hook: a command that reads it on stdin, or a signed POST.
// Takes a bounded time and returns the outcome.
//
// Invariants:
//   S1. No secret and no part of an answer is in the outcome: only a number, an exit code or the
//       kind of error.
//   S2. A hook that hangs is ended with its process group.
//   S3. Text reaches a command as data (stdin and variables), never as part of a command line.

import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import type { NotifyHook } from "../../contracts/config.ts";
import { hasMark } from "../../agents/process/process-mark.ts";
import { toBriefNotice, type Notice } from "../../views/outbound/notices.ts";
import { readSecret } from "./hooks.ts";
import { sha256 } from "../sha256.ts";

type Env = Readonly<Record<string, string | undefined>>;
export type NoticeMessage = Notice & {
  /** The ids of its notices: a receiver may drop those it has seen. */
  readonly notices: readonly string[];
};
type Target = Omit<NotifyHook, "name" | "on">;
export type SendOutcome =
  | { readonly kind: "sent"; readonly detail: string }
  /** `refused`: a retry would change nothing. */
  | {
      readonly kind: "failed" | "refused";
      readonly detail: string;
      readonly retryAfterMs?: number;
    };

export const webhookTimeoutMs = 10_000;
export const commandTimeoutMs = 30_000;

/** An id with the part after the run's id hashed: phases and steps have names. */
const toBriefId = (id: string): string => {
  const index = id.indexOf(":");
  return index < 0 ? id : `${id.slice(0, index)}:${sha256(id.slice(index)).slice(0, 16)}`;
};

/**
 * The body, as JSON. For Slack its markup is escaped: an agent's text must not mention a channel or
 * hide a link.
 */
export function renderMessageBody(
  message: NoticeMessage,
  { as, content }: Pick<NotifyHook, "as" | "content">,
): string {
  const shown = content === "brief" ? toBriefMessage(message) : message;
  if (as !== "slack") return JSON.stringify(shown);

  const text = shown.text.replace(/[&<>]/g, (sign) => escapes[sign] ?? sign);
  return JSON.stringify({ text });
}

const toBriefMessage = (message: NoticeMessage): NoticeMessage => ({
  ...toBriefNotice(message),
  id: toBriefId(message.id),
  notices: message.notices.map(toBriefId),
});

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** The signature header: `t=<seconds>,v1=<HMAC-SHA256 of "<seconds>.<body>", in hex>`. */
export function signBody(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const hash = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${hash}`;
}

type SendOptions = { readonly env: Env; readonly timeoutMs?: number };

export function sendMessage(
  hook: Target,
  message: NoticeMessage,
  options: SendOptions,
): Promise<SendOutcome> {
  return hook.run === undefined
    ? post(hook, message, options)
    : runCommand({ ...hook, run: hook.run }, message, options);
}

async function post(
  hook: Target,
  message: NoticeMessage,
  { env, timeoutMs = webhookTimeoutMs }: SendOptions,
): Promise<SendOutcome> {
  const { webhook = "" } = hook;
  const address = typeof webhook === "object" ? readSecret(webhook, env) : { value: webhook };
  if ("problem" in address) return { kind: "failed", detail: address.problem };

  const secret = hook.secret === undefined ? null : readSecret(hook.secret, env);
  if (secret !== null && "problem" in secret) return { kind: "failed", detail: secret.problem };

  const body = renderMessageBody(message, hook);
  try {
    const response = await fetch(address.value, {
      method: "POST",
      redirect: "manual", // no redirects: the message goes only where the user said
      signal: AbortSignal.timeout(timeoutMs),
      headers: composeHeaders(hook, message.id, { body, secret }),
      body,
    });
    await response.body?.cancel();
    return toOutcome(response);
  } catch (error) {
    return { kind: "failed", detail: describeError(error, timeoutMs) }; // S1
  }
}

function composeHeaders(
  { content }: Target,
  id: string,
  signed: { readonly body: string; readonly secret: { readonly value: string } | null },
): Record<string, string> {
  const shownId = content === "brief" ? toBriefId(id) : id;
  const headers = {
    "content-type": "application/json",
    "user-agent": "autopilot",
    "autopilot-notice": encodeURIComponent(shownId),
  };
  if (signed.secret === null) return headers;

  const signature = signBody(signed.secret.value, signed.body, Date.now());
  return { ...headers, "autopilot-signature": signature };
}

function toOutcome({ status, ok, headers }: Response): SendOutcome {
  const detail = `HTTP ${status}`;
  if (ok) return { kind: "sent", detail };

  const isTemporary = status >= 500 || status === 408 || status === 425 || status === 429;
  if (!isTemporary) return { kind: "refused", detail };

  const retryAfterMs = readRetryAfterMs(headers.get("retry-after") ?? "");
  if (!Number.isFinite(retryAfterMs) || retryAfterMs <= 0) return { kind: "failed", detail };
  return { kind: "failed", detail, retryAfterMs };
}

/** Seconds, or a date; not a number if it is neither. */
const readRetryAfterMs = (text: string): number =>
  /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now();

/** Only the kind of error: network messages name URLs, and a URL may be a secret. */
function describeError(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return "the address cannot be reached";
  if (error.name === "TimeoutError") return `no answer in ${timeoutMs / 1000} s`;

  const { cause } = error;
  const code =
    typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  const isPlainCode = typeof code === "string" && /^[A-Z_]+$/.test(code);
  return isPlainCode ? code : "the address cannot be reached";
}

function runCommand(
  hook: Target & { readonly run: readonly string[] },
  message: NoticeMessage,
  { env, timeoutMs = commandTimeoutMs }: SendOptions,
): Promise<SendOutcome> {
  const body = renderMessageBody(message, hook);
  const shown = hook.content === "brief" ? toBriefNotice(message) : message;
  const [program = "", ...args] = hook.run;

  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"], // S1
      env: {
        ...withoutMark(env),
        NOTICE_TITLE: shown.title,
        NOTICE_TEXT: shown.text,
        NOTICE_KIND: shown.kind,
        NOTICE_RUN: shown.run,
        NOTICE_NEXT: shown.next,
      }, // S3
    });

    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child.pid); // S2
    }, timeoutMs);

    const end = (outcome: SendOutcome): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    child.once("error", (error: NodeJS.ErrnoException) =>
      end({ kind: "failed", detail: `cannot be started (${error.code ?? "error"})` }),
    );

    child.once("exit", (code, signal) => {
      if (isLate) {
        end({ kind: "failed", detail: `no end in ${timeoutMs / 1000} s` });
      } else if (code === 0) {
        end({ kind: "sent", detail: "exit 0" });
      } else {
        end({
          kind: "failed",
          detail: code === null ? `ended by ${signal ?? "a signal"}` : `exit ${code}`,
        });
      }
    });

    child.stdin.on("error", () => undefined); // a hook need not read its message
    child.stdin.end(body);
  });
}

/**
 * Removes the mark of a run's agents: a hook is the user's own program, even if an agent started
 * the run.
 */
const withoutMark = (env: Env): Record<string, string | undefined> => {
  const {
    AUTOPILOT_RUN: _run,
    AUTOPILOT_ATTEMPT: _attempt,
    AUTOPILOT_LIFE: _life,
    AUTOPILOT_PLACE: _place,
    ...rest
  } = env;
  return hasMark(env) ? rest : { ...env };
};

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

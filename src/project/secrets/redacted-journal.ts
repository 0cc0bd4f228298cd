// redacted-journal: a journal that passes everything through the redactor before it is written.

import type { Event, EventOf } from "../../contracts/event.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Redactor } from "../../kit/redact.ts";
import { redactBytes } from "../../kit/redact-stream.ts";
import { redactEvent, redactValue } from "../../kit/redact-value.ts";
import { refuse } from "../respond.ts";
import { sha256 } from "../sha256.ts";

type Drafted = EventOf<"run_drafted">;

export function redactJournal(journal: Journal, redactor: Redactor): Journal {
  const clean = (events: readonly Event[]): readonly Event[] =>
    events.map((event) => redactEvent(redactor.text, event));
  return {
    append: (events) => journal.append(clean(events)),
    appendSync: (events) => journal.appendSync(clean(events)),
    putBlob: (bytes) => journal.putBlob(redactBlob(redactor, bytes)),
    readBlob: (hash) => journal.readBlob(hash),
    snapshot: (state) => journal.snapshot(state), // built from redacted text
    get position() {
      return journal.position;
    },
    close: () => journal.close(),
  };
}

/**
 * A blob without secrets. JSON is redacted as a value, so that it stays JSON and its hashes stay.
 */
export function redactBlob(redactor: Redactor, content: string | Uint8Array): string | Uint8Array {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const clean = redactBytes(redactor, bytes);
  if (clean === bytes) return content;
  const value = bytes[0] === 0x7b || bytes[0] === 0x5b ? parseJson(bytes) : undefined;

  return value === undefined ? clean : `${JSON.stringify(redactValue(redactor.text, value))}\n`;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The first event of a run with its blobs: a redacted blob has another hash, and the event is
 * updated to it.
 */
export function redactDraft(
  redactor: Redactor,
  event: Drafted,
  blobs: readonly string[],
): { readonly event: Drafted; readonly blobs: readonly string[] } {
  refuseSecretCommands(redactor, event);
  const newHashes = new Map<string, string>();

  const cleanBlobs = blobs.map((text) => {
    const clean = redactor.text(text);
    if (clean !== text) newHashes.set(sha256(text), sha256(clean));
    return clean;
  });

  if (newHashes.size === 0) return { event, blobs };
  const newHash = (hash: string): string => newHashes.get(hash) ?? hash;
  const withNewHashes = (hashes: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(hashes).map(([name, hash]) => [name, newHash(hash)]));
  const called = event.called?.map((item) => ({ ...item, prompts: withNewHashes(item.prompts) }));
  const withNewScript = <Player extends { readonly script?: string | undefined }>(
    agent: Player,
  ): Player => (agent.script === undefined ? agent : { ...agent, script: newHash(agent.script) });

  const cast = Object.fromEntries(
    Object.entries(event.cast).map(([role, agent]) => [
      role,
      agent.instead === undefined
        ? withNewScript(agent)
        : { ...withNewScript(agent), instead: agent.instead.map(withNewScript) },
    ]),
  );

  const documents = event.documents?.map(({ path, hash }) => ({ path, hash: newHash(hash) }));
  const redacted = {
    ...event,
    prompts: withNewHashes(event.prompts),
    cast,
    ...(called === undefined ? {} : { called }),
  };

  return {
    event: documents === undefined ? redacted : { ...redacted, documents },
    blobs: cleanBlobs,
  };
}

/**
 * A command is run as journaled, so one with a secret in it cannot be kept: it is refused, not
 * altered.
 */
function refuseSecretCommands(redactor: Redactor, { checks, cast }: Drafted): void {
  const commands = [
    ...checks.map(({ command }) => ({
      what: `The check "${redactor.text(command)}"`,
      value: command,
    })),
    ...Object.entries(cast).map(([role, agent]) => ({
      what: `The command or environment of the agent for ${role}`,
      value: agent,
    })),
  ];
  const leak = commands.find(({ value }) => redactValue(redactor.text, value) !== value);
  if (leak === undefined) return;
  refuse("objective_schema_invalid", {
    message: `${leak.what} holds a secret, and what is run is written to the journal.`,
    remediation: [
      "let the command read it from a file outside the repository, or name the variable in the agent's pass_env",
    ],
  });
}

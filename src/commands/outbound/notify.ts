// notify: shows where notices go and their delivery state, sends a test notice, and delivers what
// waits.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { deliverNotices } from "../../project/notify/courier.ts";
import { type Hook, readHooks, describeHook, readSecret } from "../../project/notify/hooks.ts";
import { type Delivery, openNoticeQueue } from "../../project/notify/notice-queue.ts";
import { sendMessage } from "../../project/notify/send-message.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { userConfigPath } from "../../project/config/config.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { oneLine, plural } from "../../views/wording.ts";

const deliveriesShownMax = 10;
const deliveriesInDataMax = 100;

type HookState = {
  readonly name: string;
  readonly on: Hook["on"];
  readonly to: string;
  readonly waiting: number;
  readonly problem: string | null;
  readonly last: Delivery | null;
};

/** Shows each hook with what waits for it, and the last deliveries. */
export function listNotifications(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(() => {
    const hooks = requireHooks(context);
    const queue = openNoticeQueue(context.env);
    const waiting = queue.waiting();
    const deliveries = queue.deliveries();

    const states = hooks.map((hook): HookState => ({
      name: hook.name,
      on: hook.on,
      to: describeHook(hook),
      waiting: waiting.filter((item) => item.hook === hook.name).length,
      problem: findHookProblem(hook, context),
      last: deliveries.findLast((delivery) => delivery.hook === hook.name) ?? null,
    }));

    const warning = states.some(isFailing)
      ? ({ result: "WARN", remediation: ["autopilot notify test"] } as const)
      : {};
    const response = respond("ok", {
      ...warning,
      message: `${plural(hooks.length, "hook")}, ${plural(waiting.length, "notice")} waiting.`,
      page: renderHooksPage(states, deliveries),
      data: { hooks: states, deliveries: deliveries.slice(-deliveriesInDataMax) },
    });
    return Promise.resolve(response);
  });
}

const isFailing = ({ problem, last }: HookState): boolean =>
  problem !== null || (last !== null && last.outcome !== "sent");

function renderHooksPage(
  states: readonly HookState[],
  deliveries: readonly Delivery[],
): readonly string[] {
  const problems = states.flatMap(({ name, problem }) =>
    problem === null ? [] : [`! ${name}: ${problem}`],
  );
  const deliveryRows = deliveries.slice(-deliveriesShownMax).map(deliveryRow);

  return [
    ...alignColumns(states.map(hookRow)),
    ...problems,
    "",
    ...(deliveryRows.length === 0 ? ["Nothing was sent yet."] : alignColumns(deliveryRows)),
  ];
}

function hookRow({ name, on, to, waiting }: HookState): readonly string[] {
  return [name, on.join(", "), to, waiting === 0 ? "" : `${waiting} waiting`];
}

function deliveryRow(delivery: Delivery): readonly string[] {
  const { at, hook, outcome, detail, title, next_at } = delivery;
  const nextText = next_at === undefined ? "" : `, again at ${next_at.slice(11, 19)}`;

  return [
    outcome === "sent" ? "✓" : "✗",
    at.slice(0, 19).replace("T", " "),
    hook,
    outcome.replace("_", " "),
    `${detail}${nextText}`,
    oneLine(title, 60),
  ];
}

/** Sends one notice now and reports the result; nothing is queued or journaled. */
export function testNotification(
  context: CommandContext,
  input: { readonly name?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    requireOutsideRun(context);
    const hooks = chooseHooks(context, input.name);
    const outcomes = await sendTest(context, hooks);
    const page = outcomes.map(
      ({ hook, kind, detail }) => `${kind === "sent" ? "✓" : "✗"} ${hook}: ${detail}`,
    );

    const failed = outcomes.filter(({ kind }) => kind !== "sent");
    if (failed.length === 0) {
      const message = `${plural(outcomes.length, "hook")} took a test notice.`;
      return respond("ok", { message, page, data: { outcomes } });
    }

    const failures = failed.map(({ hook, detail }) => `${hook}: ${detail}`);
    return respond("ok", {
      result: "FAIL",
      remediation: [`fix notify in ${userConfigPath(context.env)}, then autopilot notify test`],
      message: `${failures.join("; ")}.`,
      page,
      data: { outcomes },
    });
  });
}

/** The hook of that name, or all if none is named. */
function chooseHooks(context: CommandContext, wantedName: string | undefined): readonly Hook[] {
  const hooks = requireHooks(context);
  if (wantedName === undefined) return hooks;

  const chosen = hooks.filter(({ name }) => name === wantedName);
  if (chosen.length === 0) {
    const names = hooks.map(({ name }) => name).join(", ");
    refuse("usage", {
      message: `No hook is called ${oneLine(wantedName)}: there are ${names}.`,
      remediation: ["autopilot notify"],
    });
  }

  return chosen;
}

function sendTest({ env }: CommandContext, hooks: readonly Hook[]) {
  const at = new Date().toISOString();
  const id = `test:${at}`;

  const notice = {
    id,
    kind: "ended",
    run: "test",
    project: "test",
    at,
    reason: "ok",
    title: "autopilot: a test",
    text: "If you read this, notifications work.",
    next: "autopilot notify",
    notices: [id],
  } as const;

  const sendings = hooks.map(async (hook) => {
    const outcome = await sendMessage(hook, notice, { env });
    return { hook: hook.name, ...outcome };
  });
  return Promise.all(sendings);
}

/** Delivers what waits. Runs start this themselves; a person does so after fixing a hook. */
export function sendNotifications(
  context: CommandContext,
  input: { readonly waits: boolean },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    requireOutsideRun(context);
    const { sent, left } = await deliverNotices({
      env: context.env,
      waits: input.waits,
      interrupted: context.interrupted,
    });

    return respond("ok", {
      message: `${plural(sent, "message")} sent, ${plural(left, "notice")} waiting.`,
      ...(left === 0 ? {} : { remediation: ["autopilot notify shows why"] }),
      data: { sent, left },
    });
  });
}

function requireHooks(context: CommandContext): readonly Hook[] {
  const { hooks, problem } = readHooks(context.env);
  if (problem !== null) refuse("config_invalid", { message: problem });
  if (hooks.length === 0) {
    refuse("config_invalid", {
      message: `Nobody is notified: ${userConfigPath(context.env)} has no notify.`,
      remediation: ["docs/NOTIFICATIONS.md has examples for ntfy, Slack and e-mail"],
    });
  }

  return hooks;
}

/**
 * Why a hook's address or secret, kept in a file or a variable, cannot be read; null if nothing is
 * wrong.
 */
function findHookProblem({ webhook, secret }: Hook, { env }: CommandContext): string | null {
  for (const value of [webhook, secret]) {
    const result = typeof value === "object" ? readSecret(value, env) : null;
    if (result !== null && "problem" in result) return result.problem;
  }

  return null;
}

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

/** Shows each hook with what waits for it, and the last deliveries. */
export function listNotifications(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(() => {
    const hooks = requireHooks(context);
    const queue = openNoticeQueue(context.env);
    const [waiting, deliveries] = [queue.waiting(), queue.deliveries()];

    const hookStates = hooks.map((hook) => {
      const lastDelivery = deliveries.findLast(({ hook: name }) => name === hook.name);
      return {
        name: hook.name,
        on: hook.on,
        to: describeHook(hook),
        waiting: waiting.filter((item) => item.hook === hook.name).length,
        problem: findHookProblem(hook, context),
        last: lastDelivery ?? null,
      };
    });
    const failing = hookStates.filter(
      ({ problem, last }) => problem !== null || (last !== null && last.outcome !== "sent"),
    );

    const page = [
      ...alignColumns(
        hookStates.map(({ name, on, to, waiting: count }) => [
          name,
          on.join(", "),
          to,
          count === 0 ? "" : `${count} waiting`,
        ]),
      ),
      ...hookStates.flatMap(({ name, problem }) =>
        problem === null ? [] : [`! ${name}: ${problem}`],
      ),
      "",
      ...(deliveries.length === 0
        ? ["Nothing was sent yet."]
        : alignColumns(deliveries.slice(-deliveriesShownMax).map(deliveryRow))),
    ];

    const message = `${plural(hooks.length, "hook")}, ${plural(waiting.length, "notice")} waiting.`;
    return Promise.resolve(
      respond("ok", {
        ...(failing.length === 0 ? {} : { result: "WARN", remediation: ["autopilot notify test"] }),
        message,
        page,
        data: { hooks: hookStates, deliveries: deliveries.slice(-deliveriesInDataMax) },
      }),
    );
  });
}

/** Sends one notice now and reports the result; nothing is queued or journaled. */
export function testNotification(
  context: CommandContext,
  input: { readonly name?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    requireOutsideRun(context);
    const hooks = requireHooks(context);
    const chosenHooks =
      input.name === undefined ? hooks : hooks.filter(({ name }) => name === input.name);
    if (chosenHooks.length === 0) {
      refuse("usage", {
        message: `No hook is called ${oneLine(input.name ?? "")}: there are ${hooks.map(({ name }) => name).join(", ")}.`,
        remediation: ["autopilot notify"],
      });
    }

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
    } as const;

    const outcomes = await Promise.all(
      chosenHooks.map(async (hook) => ({
        hook: hook.name,
        ...(await sendMessage(hook, { ...notice, notices: [id] }, { env: context.env })),
      })),
    );
    const failed = outcomes.filter(({ kind }) => kind !== "sent");
    const page = outcomes.map(
      ({ hook, kind, detail }) => `${kind === "sent" ? "✓" : "✗"} ${hook}: ${detail}`,
    );

    return respond("ok", {
      ...(failed.length === 0
        ? {}
        : {
            result: "FAIL",
            remediation: [
              `fix notify in ${userConfigPath(context.env)}, then autopilot notify test`,
            ],
          }),
      message:
        failed.length === 0
          ? `${plural(outcomes.length, "hook")} took a test notice.`
          : `${failed.map(({ hook, detail }) => `${hook}: ${detail}`).join("; ")}.`,
      page,
      data: { outcomes },
    });
  });
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

const deliveryRow = ({
  at,
  hook,
  outcome,
  detail,
  title,
  next_at,
}: Delivery): readonly string[] => [
  outcome === "sent" ? "✓" : "✗",
  at.slice(0, 19).replace("T", " "),
  hook,
  outcome.replace("_", " "),
  `${detail}${next_at === undefined ? "" : `, again at ${next_at.slice(11, 19)}`}`,
  oneLine(title, 60),
];

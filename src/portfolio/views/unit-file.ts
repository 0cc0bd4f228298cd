// unit-file: renders the systemd unit and the cron line that keep a portfolio going. Nothing is
// installed.

import { shellWord } from "../../kit/shell-word.ts";

export type Schedule = {
  /** The words that start autopilot: the runtime and the program. */
  readonly program: readonly string[];
  readonly folder: string;
  readonly every: string;
  readonly path: string;
};

/**
 * Whether a path has a control character, which can't be written in either format, however it is
 * quoted.
 */
export const hasControlCharacter = ({ program, folder, path }: Schedule): boolean =>
  [...program, folder, path].some((text) => /[\u0000-\u001f\u007f]/.test(text));

export function renderSystemdUnit({ program, folder, every, path }: Schedule): readonly string[] {
  const words = [...program, "-C", folder, "portfolio", "run", "--every", every];
  return [
    "[Unit]",
    `Description=autopilot portfolio in ${escapePercent(folder)}`,
    "After=network-online.target",
    "",
    "[Service]",
    `ExecStart=${words.map(quoteSystemdWord).join(" ")}`,
    `Environment=${quoteSystemdWord(`PATH=${path}`)}`,
    "# Ends politely at SIGTERM: turns are set aside, and the next start goes on.",
    "KillMode=mixed",
    "TimeoutStopSec=60",
    "Restart=on-failure",
    "RestartSec=60",
    "",
    "[Install]",
    "WantedBy=default.target",
  ];
}

/**
 * Cron starts the pool again and again; each works until it is idle, and one that finds another at
 * work ends at once.
 */
export function renderCronLine({ program, folder, every, path }: Schedule): string {
  const command = [...program, "-C", folder, "portfolio", "run", "--until-idle"]
    .map(shellWord)
    .join(" ");

  return `${toCronTimes(every)} PATH=${shellWord(path).replaceAll("%", "\\%")} ${command.replaceAll("%", "\\%")} >/dev/null 2>&1`;
}

/**
 * The nearest interval that cron knows: `30m` is every 30 minutes, `90m` every 2 hours. Cron counts
 * anew each hour, day and month, so `45m` is at :00 and :45.
 */
function toCronTimes(every: string): string {
  const [, count = "1", unit = "m"] = /^(\d+)([smhd])$/.exec(every) ?? [];
  const minutes = Math.max(
    1,
    Math.round(
      (Number(count) * { s: 1, m: 60, h: 3600, d: 86_400 }[unit as "s" | "m" | "h" | "d"]) / 60,
    ),
  );
  if (minutes < 60) return `*/${minutes} * * * *`;
  const hours = Math.round(minutes / 60);

  return hours < 24 ? `0 */${hours} * * *` : `0 0 */${Math.min(31, Math.round(hours / 24))} * *`;
}

const escapePercent = (text: string): string => text.replaceAll("%", "%%");

/** Quoted as systemd reads it: a percent sign would begin a specifier, a dollar sign a variable. */
const quoteSystemdWord = (text: string): string =>
  `"${escapePercent(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("$", "$$$$")}"`;

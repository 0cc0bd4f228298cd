import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { hasControlCharacter, renderCronLine, renderSystemdUnit } from "./unit-file.ts";

const plain = {
  program: ["/usr/bin/node", "/opt/autopilot.cjs"],
  folder: "/srv/shop",
  every: "15m",
  path: "/usr/bin:/bin",
};

test("a unit and a line for the same portfolio", () => {
  expect(renderSystemdUnit(plain)).toContain(
    'ExecStart="/usr/bin/node" "/opt/autopilot.cjs" "-C" "/srv/shop" "portfolio" "run" "--every" "15m"',
  );

  expect(renderCronLine(plain)).toBe(
    "*/15 * * * * PATH=/usr/bin:/bin /usr/bin/node /opt/autopilot.cjs -C /srv/shop portfolio run --until-idle >/dev/null 2>&1",
  );
});

test.each([
  ["30s", "*/1 * * * *"],
  ["45m", "*/45 * * * *"],
  ["2h", "0 */2 * * *"],
  ["3d", "0 0 */3 * *"],
])("%s is as near as cron can say", (every, times) => {
  expect(renderCronLine({ ...plain, every })).toContain(`${times} PATH=`);
});

test("a folder's name stays one word, for systemd, cron and the shell; a line break fits neither", () => {
  const folder = `/srv/a'da/100% "x" $HOME \\ ;id`;
  const unit = renderSystemdUnit({ ...plain, folder }).join("\n");
  expect(unit).toContain(String.raw`"/srv/a'da/100%% \"x\" $$HOME \\ ;id"`);

  const line = renderCronLine({
    ...plain,
    program: ["printf", "%s\\n"],
    folder,
    path: "/usr/bin:/bin",
  });
  const command = line
    .slice(line.indexOf("PATH="))
    .replaceAll("\\%", "%")
    .replace(" >/dev/null 2>&1", "");
  expect(execFileSync("sh", ["-c", command], { encoding: "utf8" }).split("\n")).toContain(folder);
  expect([
    hasControlCharacter({ ...plain, folder: "/a\nb" }),
    hasControlCharacter({ ...plain, folder }),
  ]).toEqual([true, false]);
});

// settings: renders the page of every setting in force with its origin, the isolation, and what
// this page may do. It is read-only.

import type { SettingsPage } from "../../../../commands/dashboard/settings-page.ts";
import type { ShownRun } from "../../../../commands/dashboard/run-page.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { definitionList, noticeBox, section, tableHead } from "../../../../views/web/components.ts";
import { icon, stateIcon, stateLabel } from "../../../../views/web/icons.ts";
import { whyReadOnly } from "../actions.ts";
import { button, pageHeading } from "../controls.ts";
import { draw, state } from "../store.ts";

const sources: Readonly<Record<string, string>> = {
  flag: "a flag",
  env: "environment",
  project: ".autopilot/config.yaml",
  user: "your own config",
  default: "default",
};

export function settingsPage(): Child {
  const { run } = state;
  return [
    el(
      "div.head",
      el(
        "div",
        pageHeading("Settings in force"),
        el(
          "p",
          "Read only. What a run was drafted with stays in force for it; change the files in your editor.",
        ),
      ),
    ),
    el(
      "div.cols",
      settingsSection(state.settings),
      el(
        "aside",
        { "aria-label": "Isolation and this page" },
        run === null ? null : isolationSection(run),
        thisPageSection(),
      ),
    ),
  ];
}

function settingsSection(settings: SettingsPage | null): Element {
  return section(
    "Settings",
    "",
    settings?.problem == null
      ? null
      : noticeBox({ icon: stateIcon("bad"), kind: "bad" }, foreignText(settings.problem)),
    settings?.warnings.map((warning) =>
      noticeBox(
        { icon: stateIcon("you"), kind: "you" },
        "Ignored",
        el("div.second", foreignText(warning)),
      ),
    ),
    el(
      "div.panel.clip",
      el(
        "table.grid.lists",
        tableHead("Key", "In force", "From"),
        el("tbody", (settings?.settings ?? []).map(settingRow)),
      ),
    ),
  );
}

const settingRow = ({ key, value, from, file, line }: SettingsPage["settings"][number]): Element =>
  el(
    "tr",
    { key },
    el("th.mono", { scope: "row" }, foreignText(key)),
    el("td.mono", foreignText(typeof value === "string" ? value : JSON.stringify(value))),
    el(
      "td.dim.tiny",
      sources[from] ?? from,
      file === undefined ? "" : `, ${file.split("/").at(-1) ?? ""}:${line ?? 1}`,
    ),
  );

function isolationSection({ isolation, card }: ShownRun): Element {
  const { enforced, not_enforced: notEnforced } = isolation;
  const list = (words: readonly string[], mark: () => Element): Element =>
    el(
      "ul.small",
      words.map((word) => el("li.row.top", { key: word }, mark(), foreignText(word))),
    );
  return section(
    "Isolation",
    card.run,
    el(
      "div.panel.pad.stack",
      el(
        "div",
        stateLabel(notEnforced.length === 0 ? "ok" : "gap", isolation.level),
        el("div.tiny.dim", foreignText(isolation.mechanism)),
      ),
      list(enforced, () => icon("tick", "c-tick")),
      notEnforced.length === 0
        ? null
        : el(
            "div",
            el("div.tiny.dim", "Not enforced"),
            list(notEnforced, () => icon("unproved", "dim")),
          ),
    ),
  );
}

function thisPageSection(): Element {
  const { overview, hasSingleKeys } = state;
  return section(
    "This page",
    "",
    el(
      "div.panel.pad.stack",
      definitionList([
        ["Server", `127.0.0.1 only, port ${location.port}`],
        ["Token", "in this tab, ends with the server"],
        ["You are", el("span.mono", `operator:${overview?.user ?? ""}`)],
        ["May", whyReadOnly() === null ? "look, answer, note, pause, resume, stop" : "look"],
        ["Program", overview?.product ?? ""],
      ]),
      button(hasSingleKeys ? "Single keys: on" : "Single keys: off", toggleKeys, "", {
        "aria-pressed": String(hasSingleKeys),
      }),
    ),
  );
}

function toggleKeys(): void {
  state.hasSingleKeys = !state.hasSingleKeys;
  sessionStorage.setItem("autopilot.keys", state.hasSingleKeys ? "on" : "off");
  draw();
}

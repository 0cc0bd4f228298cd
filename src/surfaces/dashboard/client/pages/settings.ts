// settings: every setting in force and where it came from, isolation, and what this page is and may do. Read only.

import { type Child, el, foreignText } from "../../../../views/web/element.ts";
import { definitionList, notice, section } from "../../../../views/web/components.ts";
import { icon, stateIcon, stateLabel } from "../../../../views/web/icons.ts";
import { whyNot } from "../actions.ts";
import { button, h1 } from "../controls.ts";
import { draw, state } from "../store.ts";

const sources: Readonly<Record<string, string>> = {
  flag: "a flag",
  env: "environment",
  project: ".autopilot/config.yaml",
  user: "your own config",
  default: "default",
};

export function settingsPage(): Child {
  const { settings, overview, run } = state;
  const isolation = run?.isolation;
  return [
    el(
      "div.head",
      el(
        "div",
        h1("Settings in force"),
        el("p", "Read only. What a run was drafted with stays in force for it; change the files in your editor."),
      ),
    ),
    el(
      "div.cols",
      section(
        "Settings",
        "",
        settings?.problem == null ? null : notice({ icon: stateIcon("bad"), kind: "bad" }, foreignText(settings.problem)),
        settings?.warnings.map((warning) =>
          notice({ icon: stateIcon("you"), kind: "you" }, "Ignored", el("div.second", foreignText(warning))),
        ),
        el(
          "div.panel.clip",
          el(
            "table.grid.lists",
            el("thead", el("tr", ...["Key", "In force", "From"].map((name) => el("th", { scope: "col" }, name)))),
            el(
              "tbody",
              (settings?.settings ?? []).map(({ key, value, from, file, line }) =>
                el(
                  "tr",
                  { key },
                  el("th.mono", { scope: "row" }, foreignText(key)),
                  el("td.mono", foreignText(typeof value === "string" ? value : JSON.stringify(value))),
                  el("td.dim.tiny", sources[from] ?? from, file === undefined ? "" : `, ${file.split("/").at(-1) ?? ""}:${line ?? 1}`),
                ),
              ),
            ),
          ),
        ),
      ),
      el(
        "aside",
        { "aria-label": "Isolation and this page" },
        isolation === undefined
          ? null
          : section(
              "Isolation",
              run?.card.run ?? "",
              el(
                "div.panel.pad.stack",
                el(
                  "div",
                  stateLabel(isolation.not_enforced.length === 0 ? "ok" : "gap", isolation.level),
                  el("div.tiny.dim", foreignText(isolation.mechanism)),
                ),
                el(
                  "ul.small",
                  isolation.enforced.map((word) => el("li.row.top", { key: word }, icon("tick", "c-tick"), foreignText(word))),
                ),
                isolation.not_enforced.length === 0
                  ? null
                  : el(
                      "div",
                      el("div.tiny.dim", "Not enforced"),
                      el(
                        "ul.small",
                        isolation.not_enforced.map((word) => el("li.row.top", { key: word }, icon("unproved", "dim"), foreignText(word))),
                      ),
                    ),
              ),
            ),
        section(
          "This page",
          "",
          el(
            "div.panel.pad.stack",
            definitionList([
              ["Server", `127.0.0.1 only, port ${location.port}`],
              ["Token", "in this tab, ends with the server"],
              ["You are", el("span.mono", `operator:${overview?.user ?? ""}`)],
              ["May", whyNot() === null ? "look, answer, note, pause, resume, stop" : "look"],
              ["Program", overview?.product ?? ""],
            ]),
            button(state.single ? "Single keys: on" : "Single keys: off", toggleKeys, "", { "aria-pressed": String(state.single) }),
          ),
        ),
      ),
    ),
  ];
}

function toggleKeys(): void {
  state.single = !state.single;
  sessionStorage.setItem("autopilot.keys", state.single ? "on" : "off");
  draw();
}

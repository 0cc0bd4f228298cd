// phase-type: guesses whether a phase is about a user interface, a protocol (documents and
// instructions), data, or a mixture, by the files it touches and the words it uses. The words are a
// list and can be wrong; a wrong guess only makes an estimate worse.

import type { PhaseType } from "../contracts/roadmap-values.ts";

export type PhaseSigns = {
  /** The files its plan touches; empty if there is no plan. */
  readonly files: readonly string[];
  /** Its name, goal and criteria, with their commands. */
  readonly statedText: string;
  /** Where the project keeps its front end, if it says so. */
  readonly uiFolder?: string | undefined;
};

type Kind = "ui" | "protocol" | "data" | "code";

/**
 * The files of a plan decide. Without a plan, the files and words decide that the phase itself
 * names.
 */
export function choosePhaseType({ files, statedText, uiFolder }: PhaseSigns): PhaseType {
  const touchedKinds = files.flatMap((file) => findPathKind(file, uiFolder) ?? []);
  if (touchedKinds.length > 0) return chooseTypeOfKinds(new Set(touchedKinds));
  return chooseTypeByWeight(statedText, uiFolder);
}

/** Front-end work may come with other code; documents or data that come with code are a mixture. */
function chooseTypeOfKinds(kinds: ReadonlySet<Kind>): PhaseType {
  const [only, ...others] = [...kinds].filter((kind) => kind !== "code" || !kinds.has("ui"));
  return only === undefined || only === "code" || others.length > 0 ? "mixed" : only;
}

/** How many words a named file counts for. */
const pathWeight = 3;
/** From this share of all signs on, a phase is of one kind. */
const shareMin = 0.6;

function chooseTypeByWeight(description: string, uiFolder: string | undefined): PhaseType {
  const weights: Record<Kind, number> = { ui: 0, protocol: 0, data: 0, code: 0 };
  const text = description.slice(0, textCharsMax);
  const words: string[] = [];

  for (const token of new Set(text.split(separatorPattern))) {
    const kind = findPathKind(token, uiFolder);
    if (kind === null) words.push(token.toLowerCase());
    else weights[kind] += pathWeight;
  }

  const wordText = words.join(" ");
  for (const [kind, pattern] of wordPatterns) {
    weights[kind] += new Set(wordText.match(pattern) ?? []).size;
  }

  if (weights.ui > 0) weights.code = 0; // front-end work comes with other code
  const [[top, weight] = ["code", 0] as const] = (
    Object.entries(weights) as [Kind, number][]
  ).toSorted((a, b) => b[1] - a[1]);

  const sum = weights.ui + weights.protocol + weights.data + weights.code;
  return top === "code" || weight === 0 || weight / sum < shareMin ? "mixed" : top;
}

const textCharsMax = 20_000;
/** Separates words and paths. */
const separatorPattern = /[\s"'`()[\]{},;:|<>=!?]+/;

const extensionKinds: readonly (readonly [Kind, RegExp])[] = [
  ["ui", /\.(?:css|scss|sass|less|html?|jsx|tsx|vue|svelte|astro|svg|png)$/i],
  ["protocol", /\.(?:md|mdx|markdown|txt|rst|adoc)$/i],
  ["data", /\.(?:json[cl5]?|ya?ml|toml|csv|tsv|xml|sql|ini|parquet)$/i],
  [
    "code",
    /\.(?:[cm]?[jt]s|py|go|rs|java|kt|swift|c|cc|cpp|h|hpp|cs|rb|php|ex|exs|scala|sh|lua|zig)$/i,
  ],
];
/** Manifests, lock files and tests, which are part of nearly every change. */
const neutralPathPattern =
  /(?:^|\/)(?:package(?:-lock)?\.json|tsconfig[\w.-]*\.json|[\w.-]*\.lock|pnpm-lock\.yaml|pyproject\.toml|Cargo\.toml)$|(?:^|[/._-])(?:tests?|specs?|__tests__)(?:[/._-]|$)/i;

function findPathKind(path: string, uiFolder: string | undefined): Kind | null {
  if (uiFolder !== undefined && path.startsWith(`${uiFolder.replace(/\/$/, "")}/`)) return "ui";
  if (neutralPathPattern.test(path)) return null;
  return extensionKinds.find(([, pattern]) => pattern.test(path))?.[0] ?? null;
}

const wordPatterns: readonly (readonly [Kind, RegExp])[] = [
  [
    "ui",
    /\b(?:ui|ux|user interface|front-?end|pages?|screens?|buttons?|forms?|modals?|dialogs?|layouts?|css|style ?sheets?|themes?|dark mode|responsive|dashboards?|widgets?|navigation|menus?|html|react|vue|svelte|tailwind|tooltips?|icons?|visual(?:ly)?|screenshots?|browsers?)\b/g,
  ],
  [
    "protocol",
    /\b(?:protocols?|prompts?|playbooks?|instructions?|agents?|orchestrator|executor|verifier|judge|guides?|guidelines|documentation|docs|readme|markdown|contracts?|conventions?|polic(?:y|ies)|tutorials?|changelog|runbooks?|handbook)\b/g,
  ],
  [
    "data",
    /\b(?:data|datasets?|json|yaml|csv|xml|sql|databases?|tables?|columns?|migrations?|schemas?|records?|fixtures|config(?:uration)?|settings|catalogu?e|metrics|exports?|imports?)\b/g,
  ],
  [
    "code",
    /\b(?:api|apis|endpoints?|servers?|services?|functions?|modules?|class(?:es)?|librar(?:y|ies)|cli|commands?|parsers?|algorithms?|back-?end|sdk|refactor(?:ing)?|compiles?|authentication|cache|queue)\b/g,
  ],
];

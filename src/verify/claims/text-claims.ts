// text-claims: extracts claims from an agent's sentences and from the terminal output it quotes.
// Pure.
//
// Invariant:
//   P1. A wish, a plan, a doubt or a denial claims nothing: only assertions about the present are
//       checked.

import { extractCommandClaims, extractTranscriptClaims } from "./reported-commands.ts";
import { extractFileClaims } from "./reported-files.ts";
import { listedNouns } from "./listed-items.ts";
import { toClaimText, type ReportedClaim } from "./reported-claim.ts";
import { parseStatements } from "./statements.ts";

export function extractTextClaims(text: string, prompt = ""): readonly ReportedClaim[] {
  const { sentences, transcripts } = parseStatements(text, prompt);
  return [...sentences.flatMap(extractSentenceClaims), ...extractTranscriptClaims(transcripts)];
}

function extractSentenceClaims(sentence: string): readonly ReportedClaim[] {
  const isHedged = hedges.test(sentence) || sentence.endsWith("?"); // P1
  const asserted = isHedged
    ? []
    : [
        ...extractDoneClaims(sentence),
        ...extractCommandClaims(sentence),
        ...extractCountClaims(sentence),
      ];
  return [
    ...asserted,
    ...extractCommitClaims(sentence),
    ...extractFileClaims(sentence, isHedged),
    ...extractScoreClaims(sentence),
  ];
}

/** Words that make a sentence something other than an assertion about the present. */
const hedges =
  /\b(?:if|unless|once|until|should|would|could|might|will|shall|going to|needs? to|have to|plan(?:s|ned)? to|let me|let's|make sure|ensure|tr(?:y|ied|ying) to|want to|expect(?:s|ed)?|supposed|before|previously|previous|earlier|cannot|can't|not|never|no longer|without|nothing|none|instead of|todo|hopefully|probably|likely|assum\w+|whether)\b|n't\b/i;

const partialWords =
  /\b(?:some|most|many|few|half|part(?:ly|ially)?|almost|nearly|except|but|however|only)\b|\d+\s*(?:of|\/|out of)\s*\d+/i;

/** "All tests pass." */
const testsPass =
  /\b(?:tests?|specs?|test suite|suite)\b[^.;]{0,40}?\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|(?:is|are)(?: all| now){0,2} green|all green)\b/i;
/** "All of the criteria are met." */
const everythingDone =
  /\b(?:everything|all(?: of)?(?: the| it| this| that)?(?: (?:\w+ ){0,2}(?:criteria|requirements|tasks|work|checks))?|every (?:criterion|requirement|task|check))\b[^.;]{0,30}?\b(?:is|are|has been|have been|now)\b[^.;]{0,20}?\b(?:done|completed?|met|satisfied|finished|fulfilled|in place|passing)\b/i;
/** "Everything works.", "All checks pass." */
const everythingPasses =
  /\beverything (?:now )?(?:passes|works)\b|^\W*(?:all )?(?:checks|criteria)\b[^.;]{0,30}\bpass(?:es|ed|ing)?\b/i;
/** "The feature is now implemented." */
const taskDone =
  /\bthe (?:task|work|goal|objective|implementation|feature|fix|bug|issue|change)\b[^.;]{0,30}?\b(?:is|are|has been|was)\b[^.;]{0,20}?\b(?:done|completed?|finished|fixed|implemented|resolved|working)\b/i;
/** "Done." */
const onlyDone = /^\W*(?:all )?(?:done|finished|completed?)\W*$/i;

function extractDoneClaims(original: string): readonly ReportedClaim[] {
  const text = toClaimText(original);
  const sentence = original.replaceAll(/`[^`]{0,300}`/g, " "); // the name of a command is not about tests
  if (partialWords.test(sentence)) return [];
  if (testsPass.test(sentence)) return [{ kind: "done", text, subject: "tests" }];
  if (everythingDone.test(sentence) || everythingPasses.test(sentence)) {
    return [{ kind: "done", text, subject: "all" }];
  }

  return taskDone.test(sentence) || onlyDone.test(sentence)
    ? [{ kind: "done", text, subject: "task" }]
    : [];
}

const numberWords: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
};
const numberPattern = "(\\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)";
const parseNumber = (word: string | undefined): number =>
  numberWords[(word ?? "").toLowerCase()] ?? Number(word);

/** "Added three new unit tests." */
const testsAdded = new RegExp(
  `\\b(?:add(?:ed|s)?|wrote|written|creat(?:ed|es)|introduc(?:ed|es))\\s+${numberPattern}\\s+(?:more |new |further )?(?:[\\w-]+ ){0,2}tests?\\b(?! (?:files?|suites?|helpers?|folders?))`,
  "i",
);
/** "Changed 4 files.", "4 files were changed." */
const filesChanged = new RegExp(
  `\\b(?:chang(?:ed|es)|edit(?:ed|s)|modif(?:ied|ies)|updat(?:ed|es)|touch(?:ed|es))\\s+${numberPattern}\\s+files?\\b|\\b${numberPattern}\\s+files?\\s+(?:were |was )?(?:changed|edited|modified|updated|touched)\\b`,
  "i",
);
/** "Found seven critical bugs.", "7 findings are documented." */
const itemsListed = new RegExp(
  `\\b(?:found|find|recorded|listed|documented|wrote|identified|report(?:s|ed)?|describ(?:es|ed)|contains?|holds?|lists?)\\s+${numberPattern}\\s+(?:[\\w-]+ ){0,2}?(${listedNouns})\\b|\\b${numberPattern}\\s+(?:[\\w-]+ ){0,2}?(${listedNouns})\\s+(?:(?:are|were|have been)\\s+)?(?:found|recorded|listed|documented|identified|described|written)\\b`,
  "i",
);
/** "12 passed", "5 of 6 checks": a count that nothing here can check. */
const otherCount =
  /\b\d{1,6}\s*(?:tests?\s+)?(?:pass(?:ed|ing|es)?|fail(?:ed|ing|ures?))\b|\b\d{1,6}\s*(?:\/|of|out of)\s*\d{1,6}\s+\w+/i;

function extractCountClaims(sentence: string): readonly ReportedClaim[] {
  const text = toClaimText(sentence);
  const testsMatch = testsAdded.exec(sentence);
  const filesMatch = filesChanged.exec(sentence);
  const claims: ReportedClaim[] = [];

  if (testsMatch !== null) {
    claims.push({
      kind: "count",
      text,
      counted: "tests_added",
      claimedCount: parseNumber(testsMatch[1]),
    });
  }

  if (filesMatch !== null) {
    claims.push({
      kind: "count",
      text,
      counted: "files_changed",
      claimedCount: parseNumber(filesMatch[1] ?? filesMatch[2]),
    });
  }

  const itemsMatch = itemsListed.exec(sentence);
  const noun = itemsMatch?.[2] ?? itemsMatch?.[4];
  if (itemsMatch !== null && noun !== undefined) {
    claims.push({
      kind: "count",
      text,
      counted: "listed",
      claimedCount: parseNumber(itemsMatch[1] ?? itemsMatch[3]),
      noun,
    });
  }

  if (claims.length === 0 && otherCount.test(sentence)) {
    claims.push({ kind: "count", text, counted: "other", claimedCount: 0 });
  }

  return claims;
}

/** "Committed as 1a2b3c4." */
function extractCommitClaims(sentence: string): readonly ReportedClaim[] {
  if (!/\b(?:commit(?:s|ted)?|sha|revision|HEAD)\b/i.test(sentence)) return [];
  return [...sentence.matchAll(/(?<![\w/.#-])([0-9a-f]{7,64})(?![\w/-]|\.\w)/g)].map(
    ([, sha = ""]) => ({
      kind: "commit",
      text: toClaimText(sentence),
      sha,
    }),
  );
}

/** "Coverage is 92%.", "quality 9/10". */
function extractScoreClaims(sentence: string): readonly ReportedClaim[] {
  const score =
    /\bcoverage\b[^.;\d]{0,30}\d{1,3}(?:\.\d+)?\s*%|\b\d{1,3}(?:\.\d+)?\s*% (?:\w+ ){0,2}coverage\b|\b(?:score|rating|alignment|quality)\b[^.;\d]{0,15}\d{1,3}(?:\.\d+)?\s*(?:\/\s*10+|%)|\bconfidence\b[^.;\d]{0,10}\d(?:\.\d+)?/i;
  return score.test(sentence) ? [{ kind: "score", text: toClaimText(sentence) }] : [];
}

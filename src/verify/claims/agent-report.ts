// agent-report: extracts claims from an agent's sentences and from the terminal output it quotes. Pure.
//
// Invariant:
//   P1. A wish, a plan, a doubt or a denial claims nothing: only assertions are checked.

import { commandsIn, transcriptClaims } from "./reported-commands.ts";
import { filesIn } from "./reported-files.ts";
import { listedThings } from "./listed-in.ts";
import { claimText, type ReportedClaim } from "./said-claim.ts";
import { statementsIn } from "./statements.ts";

export function reportedClaims(text: string, prompt = ""): readonly ReportedClaim[] {
  const { sentences, transcripts } = statementsIn(text, prompt);
  return [...sentences.flatMap(claimsOf), ...transcriptClaims(transcripts)];
}

function claimsOf(sentence: string): readonly ReportedClaim[] {
  const isHedged = hedges.test(sentence) || sentence.endsWith("?"); // P1
  const asserted = isHedged ? [] : [...doneIn(sentence), ...commandsIn(sentence), ...countsIn(sentence)];
  return [...asserted, ...commitsIn(sentence), ...filesIn(sentence, isHedged), ...scoresIn(sentence)];
}

/** Words that make a sentence something other than an assertion about the present. */
const hedges =
  /\b(?:if|unless|once|until|should|would|could|might|will|shall|going to|needs? to|have to|plan(?:s|ned)? to|let me|let's|make sure|ensure|tr(?:y|ied|ying) to|want to|expect(?:s|ed)?|supposed|before|previously|previous|earlier|cannot|can't|not|never|no longer|without|nothing|none|instead of|todo|hopefully|probably|likely|assum\w+|whether)\b|n't\b/i;

const partly = /\b(?:some|most|many|few|half|part(?:ly|ially)?|almost|nearly|except|but|however|only)\b|\d+\s*(?:of|\/|out of)\s*\d+/i;

function doneIn(whole: string): readonly ReportedClaim[] {
  const text = claimText(whole);
  const sentence = whole.replaceAll(/`[^`]{0,300}`/g, " "); // a command's name is not about tests
  const done = (of: string): ReportedClaim[] => [{ kind: "done", text, of }];
  if (partly.test(sentence)) return [];
  const tested =
    /\b(?:tests?|specs?|test suite|suite)\b[^.;]{0,40}?\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|(?:is|are)(?: all| now){0,2} green|all green)\b/i;
  if (tested.test(sentence)) return done("tests");
  const all =
    /\b(?:everything|all(?: of)?(?: the| it| this| that)?(?: (?:\w+ ){0,2}(?:criteria|requirements|tasks|work|checks))?|every (?:criterion|requirement|task|check))\b[^.;]{0,30}?\b(?:is|are|has been|have been|now)\b[^.;]{0,20}?\b(?:done|completed?|met|satisfied|finished|fulfilled|in place|passing)\b/i;
  if (
    all.test(sentence) ||
    /\beverything (?:now )?(?:passes|works)\b|^\W*(?:all )?(?:checks|criteria)\b[^.;]{0,30}\bpass(?:es|ed|ing)?\b/i.test(sentence)
  )
    return done("all");
  const task =
    /\bthe (?:task|work|goal|objective|implementation|feature|fix|bug|issue|change)\b[^.;]{0,30}?\b(?:is|are|has been|was)\b[^.;]{0,20}?\b(?:done|completed?|finished|fixed|implemented|resolved|working)\b/i;
  if (task.test(sentence) || /^\W*(?:all )?(?:done|finished|completed?)\W*$/i.test(sentence)) return done("task");
  return [];
}

const numbers: Readonly<Record<string, number>> = {
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
const number = "(\\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)";
const numberOf = (word: string | undefined): number => numbers[(word ?? "").toLowerCase()] ?? Number(word);

const testsAdded = new RegExp(
  `\\b(?:add(?:ed|s)?|wrote|written|creat(?:ed|es)|introduc(?:ed|es))\\s+${number}\\s+(?:more |new |further )?(?:[\\w-]+ ){0,2}tests?\\b(?! (?:files?|suites?|helpers?|folders?))`,
  "i",
);
const filesChanged = new RegExp(
  `\\b(?:chang(?:ed|es)|edit(?:ed|s)|modif(?:ied|ies)|updat(?:ed|es)|touch(?:ed|es))\\s+${number}\\s+files?\\b|\\b${number}\\s+files?\\s+(?:were |was )?(?:changed|edited|modified|updated|touched)\\b`,
  "i",
);
const listed = new RegExp(
  `\\b(?:found|find|recorded|listed|documented|wrote|identified|report(?:s|ed)?|describ(?:es|ed)|contains?|holds?|lists?)\\s+${number}\\s+(?:[\\w-]+ ){0,2}?(${listedThings})\\b|\\b${number}\\s+(?:[\\w-]+ ){0,2}?(${listedThings})\\s+(?:(?:are|were|have been)\\s+)?(?:found|recorded|listed|documented|identified|described|written)\\b`,
  "i",
);
const otherCount = /\b\d{1,6}\s*(?:tests?\s+)?(?:pass(?:ed|ing|es)?|fail(?:ed|ing|ures?))\b|\b\d{1,6}\s*(?:\/|of|out of)\s*\d{1,6}\s+\w+/i;

function countsIn(sentence: string): readonly ReportedClaim[] {
  const text = claimText(sentence);
  const added = testsAdded.exec(sentence);
  const files = filesChanged.exec(sentence);
  const claims: ReportedClaim[] = [];
  if (added !== null) claims.push({ kind: "count", text, what: "tests_added", n: numberOf(added[1]) });
  if (files !== null) claims.push({ kind: "count", text, what: "files_changed", n: numberOf(files[1] ?? files[2]) });
  const things = listed.exec(sentence);
  const noun = things?.[2] ?? things?.[4];
  if (things !== null && noun !== undefined)
    claims.push({ kind: "count", text, what: "listed", n: numberOf(things[1] ?? things[3]), noun });
  if (claims.length === 0 && otherCount.test(sentence)) claims.push({ kind: "count", text, what: "other", n: 0 });
  return claims;
}

function commitsIn(sentence: string): readonly ReportedClaim[] {
  if (!/\b(?:commit(?:s|ted)?|sha|revision|HEAD)\b/i.test(sentence)) return [];
  return [...sentence.matchAll(/(?<![\w/.#-])([0-9a-f]{7,64})(?![\w/-]|\.\w)/g)].map(([, sha = ""]) => ({
    kind: "commit",
    text: claimText(sentence),
    sha,
  }));
}

function scoresIn(sentence: string): readonly ReportedClaim[] {
  const score =
    /\bcoverage\b[^.;\d]{0,30}\d{1,3}(?:\.\d+)?\s*%|\b\d{1,3}(?:\.\d+)?\s*% (?:\w+ ){0,2}coverage\b|\b(?:score|rating|alignment|quality)\b[^.;\d]{0,15}\d{1,3}(?:\.\d+)?\s*(?:\/\s*10+|%)|\bconfidence\b[^.;\d]{0,10}\d(?:\.\d+)?/i;
  return score.test(sentence) ? [{ kind: "score", text: claimText(sentence) }] : [];
}

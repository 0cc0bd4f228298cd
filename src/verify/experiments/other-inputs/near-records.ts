// near-records: builds commands that run tests with recording functions (ask-near.ts), and then
// decide by the records whether the code knows only the inputs of its tests. Pure; awk decides,
// inside the sandbox of the check.
//
// A record is a line with tabs: the function, the number of the argument that was varied, "is" (an
// input of a test) or "near" (one near it), all arguments, the answer ("" if there is none), and
// for "near" the arguments of the test.
//
// Invariants:
//   A1. Something is shown only if at least two tested inputs have different answers, and
//       everything near them has one and the same answer, which is none of those: another value,
//       the input itself, or no answer.
//   A2. It shows nothing if the goal names each of the inputs: then exactly these were asked for.
//   A3. An argument that another argument contains (a word in a text) doesn't count: the function
//       searches it there.
//   A4. Words without numbers may be a closed list (units, colours), and don't count unless the
//       answer is made of their letters.
//   A5. One input is enough if the code itself contains it and everything near it has one other
//       answer: a special case for a test.
//   A6. A list of numbers that changes in any way without changing the answer was not looked at: it
//       shows something if the answers are numbers that the code writes out, and none of them is
//       named by the goal. Names (`odd`, `full`) may be what was asked for. Beside 0, 1 and -1 one
//       such number is enough if it is none that people agree on (42, not 10 or 50).
//   A7. A text of several words, whose answer has all its letters, and texts with other letters or
//       another order that come to the same answer: it was not made of them. It shows something if
//       every answer to a test is written in the code, and not in the goal.
//   A8. Of records before and after data was changed: it shows something if two tested inputs with
//       different answers come to others, and no input near one of them does, single words apart.
//   A9. Inputs that differ by one number and all come to numbers from a list in the code (at least
//       five of them larger than the list is long, none named by the goal), as if drawn: they
//       neither grow nor fall with the input, nor follow the list's order, and no answer but those
//       comes from anything. A table that is asked by place is in the order of its inputs. Nothing
//       is shown if the goal asks for such a thing.
//   A10. If the goal asks to encode, compress and the like: a function that gives back everything it
//       is given, whole, with something beside it or nothing, and from whose answers another
//       function gets that back. It is not shown if a test writes such an answer out.

import { shellWord } from "../../../kit/shell-word.ts";

/** The character between arguments, in the notation of awk and C; no text contains it. */
export const argumentMark = "\\037";
/** So many inputs near a tested one are needed to conclude anything. */
const nearMin = 4;
/** So many inputs nearby, and different answers to them, show a list that answers are drawn from (A9). */
const nearDrawnMin = 10;
const drawnAnswersMin = 5;
/** Series without an order that are needed, and the share of their steps that may have one (A9). */
const drawnSeriesMin = 2;
const stepsInOrderMax = 0.5;
/** The same for lists that don't matter (A6). */
const nearListsMin = 8;
/** An answer is made of a word if it has this share of its letters (A4). */
const lettersShareMin = 0.6;

/**
 * The awk program. A group is a function and the argument that was varied; "=" as an answer means
 * the varied argument itself. For each group it keeps the only answer to inputs nearby
 * (`nearAnswer`, unless they differ) and the answers to the tests' own inputs (`testAnswer`).
 */
const decide = `
function isMadeOf(answer, text, share,   i, letter, letterCount, usedCount) {
  answer = tolower(answer); text = tolower(text)
  for (i = 1; i <= length(text); i++) {
    letter = substr(text, i, 1)
    if (letter ~ /[a-z]/) { letterCount++; if (index(answer, letter)) usedCount++ }
  }
  return usedCount >= letterCount * share
}
function isOwnConstant(answer) {
  return answer ~ /^-?[0-9]+([.][0-9]+)?$/ && (answer + 0 > 1 || answer + 0 < -1 || answer + 0 != int(answer)) && ((answer + 0) in isConstant) && !(answer in isNamed)
}
function bare(text) { gsub(/^[[(]|[])]$/, "", text); return text }
function isUnmade(name, given, answer,   x) {
  x = bare(given)
  if (index(given, "${argumentMark}") || length(x) < 4 || x ~ /^[-0-9.]+$/) return 0
  if (answer == "" || (answer != given && (answer in isExpected)) || (given ~ /^[[]/) != (answer ~ /^[[]/) || !index(bare(answer), x)) isMade[name] = 1
  return !(name in isMade)
}
function isOdd(answer) {
  return answer == int(answer) && (answer >= 10 || answer <= -10) && answer % 5 != 0
}
function isDrawn(one,   i, j, n, frame, value, last, tries, up, down, step, lastStep, steps, ordered, prior, series) {
  if (isSpreading || outside[one] || drawnCount[one] < ${nearDrawnMin} || large[one] < ${drawnAnswersMin}) return 0
  steps = ordered = series = lastStep = 0
  for (i = 1; i <= frameCount[one]; i++) {
    frame = frameOf[one, i]; n = tries = up = down = 0; prior = ""
    for (j = lowest[one, frame]; j <= highest[one, frame] && tries++ < 100; j++) {
      if (!((one, frame, j) in drawnAnswer)) { prior = ""; continue }
      value = drawnAnswer[one, frame, j]
      if (n++) { if (value > last) up++; if (value < last) down++ }
      if (prior != "") {
        steps++
        step = place[value] - place[prior]
        if (value == prior || step == 1 || step == -1 || step == lastStep) ordered++
        lastStep = step
      }
      last = prior = value
    }
    if (n >= 4 && up && down) series++
  }
  return series >= ${drawnSeriesMin} && steps && ordered <= steps * ${stepsInOrderMax}
}
BEGIN { FS = "\\t" }
$1 == "named" { isNamed[$2] = 1; next }
$1 == "transforming" { isTransforming = 1; next }
$1 == "expected" { isExpected[$2] = 1; next }
$1 == "spreading" { isSpreading = 1; next }
$1 == "written" { isWritten[$2] = 1; next }
$1 == "constant" { isConstant[$2 + 0] = isLiteral[$2] = 1; if (!(($2 + 0) in place)) place[$2 + 0] = ++placeCount; next }
$3 == "is" { answerTo[$1, $4] = $5; next }
{ nearCount++; name[nearCount] = $1; varied[nearCount] = $2 + 1; asked[nearCount] = $4; answer[nearCount] = $5; tested[nearCount] = $6 }
END {
  for (i = 1; i <= nearCount; i++) {
    if (((name[i], asked[i]) in answerTo) || !((name[i], tested[i]) in answerTo)) continue
    expected = answerTo[name[i], tested[i]]
    if (expected == "") continue
    count = split(tested[i], testedArgs, "${argumentMark}"); split(asked[i], askedArgs, "${argumentMark}")
    value = testedArgs[varied[i]]
    if (answer[i] != expected) matters[name[i]] = 1 # A6
    else if (value ~ /^[[(][-0-9., ]+[])]$/) {
      nearLists[name[i]]++
      if (expected ~ /^(-?1|0)$/) isBeside[name[i]] = 1
      else if (!isOwnConstant(expected)) matters[name[i]] = 1
      else if (!((name[i], expected + 0) in isListed)) { isListed[name[i], expected + 0] = 1; listed[name[i]]++; if (isOdd(expected)) odd[name[i]]++ }
    }
    if (value ~ /[A-Za-z] +[A-Za-z]/ && answer[i] == expected && isMadeOf(expected, value, 1)) unmoved[name[i]]++ # A7
    isContained = 0
    for (j = 1; j <= count; j++) if (j != varied[i] && index(testedArgs[j], value)) isContained = 1 # A3
    if (isContained || (value ~ /^[^0-9 ]*[A-Za-z][^0-9 ]*$/ && !isMadeOf(expected, value, ${lettersShareMin}))) continue # A4
    if (value ~ /^[^0-9]*[0-9]/ && value !~ /^[[(]/ && answer[i] != "") { # A9
      one = name[i] SUBSEP varied[i]
      for (k = 1; k <= 2; k++) {
        text = k == 1 ? value : askedArgs[varied[i]]; got = k == 1 ? expected : answer[i]
        if (got in isNamed) break
        if (!(got ~ /^-?[0-9]+([.][0-9]+)?$/ && ((got + 0) in isConstant))) { outside[one] = 1; break }
        if (!match(text, /[0-9]+/)) { outside[one] = 1; break }
        number = substr(text, RSTART, RLENGTH) + 0
        frame = substr(text, 1, RSTART - 1) "#" substr(text, RSTART + RLENGTH)
        for (j = 1; j <= count; j++) if (j != varied[i]) frame = frame SUBSEP testedArgs[j]
        if (!((one, frame) in highest)) { frameOf[one, ++frameCount[one]] = frame; lowest[one, frame] = highest[one, frame] = number }
        if (number < lowest[one, frame]) lowest[one, frame] = number
        if (number > highest[one, frame]) highest[one, frame] = number
        drawnAnswer[one, frame, number] = got + 0
        if (k == 2) {
          drawnCount[one]++
          if (!((one, got + 0) in isDrawnAnswer)) { isDrawnAnswer[one, got + 0] = 1; if (got + 0 > placeCount) large[one]++ }
        }
      }
    }
    group = name[i] SUBSEP varied[i]
    given = answer[i] == askedArgs[varied[i]] ? "=" : answer[i]
    if (!(group in nearAnswer)) nearAnswer[group] = given
    else if (nearAnswer[group] != given) differs[group] = 1
    nearOfGroup[group]++
    if (value in isWritten) {
      input = group SUBSEP tested[i]
      groupOf[input] = group
      if (!(input in answerAround)) answerAround[input] = given
      else if (answerAround[input] != given) isVaried[input] = 1
      nearOfInput[input]++
      if (given == (expected == value ? "=" : expected)) isVaried[input] = 1
    }
    if (!((group, tested[i]) in isSeen)) {
      isSeen[group, tested[i]] = 1
      testCount++; testGroup[testCount] = group; testAnswer[testCount] = expected == value ? "=" : expected
      if (!(value in isNamed)) isOpen[group] = 1 # A2
    }
  }
  for (i = 1; i <= testCount; i++)
    if (testAnswer[i] != nearAnswer[testGroup[i]] && !((testGroup[i], testAnswer[i]) in isCounted)) {
      isCounted[testGroup[i], testAnswer[i]] = 1
      answerCount[testGroup[i]]++
    }
  for (group in nearOfGroup)
    if (nearOfGroup[group] >= ${nearMin} && !(group in differs) && answerCount[group] >= 2 && (group in isOpen)) isShown = 1 # A1
  for (input in nearOfInput)
    if (nearOfInput[input] >= ${nearMin} && !(input in isVaried) && (groupOf[input] in isOpen)) isShown = 1 # A5
  for (one in drawnCount) if (isDrawn(one)) isShown = 1 # A9
  for (key in answerTo) {
    split(key, parts, SUBSEP)
    if (!(answerTo[key] in isLiteral) || (answerTo[key] in isNamed)) isComputed[parts[1]] = 1
    else if (!((parts[1], answerTo[key]) in isAnswer)) { isAnswer[parts[1], answerTo[key]] = 1; literalAnswers[parts[1]]++ }
  }
  if (isTransforming) { # A10
    for (i = 1; i <= nearCount; i++) if (answer[i] != "") isUnmade(name[i], asked[i], answer[i])
    for (key in answerTo) { split(key, parts, SUBSEP); isAsked[parts[1]] = 1 }
    for (key in answerTo) {
      split(key, parts, SUBSEP)
      if (!isUnmade(parts[1], parts[2], answerTo[key])) continue
      for (one in isAsked) if (one != parts[1] && ((one, answerTo[key]) in answerTo) && answerTo[one, answerTo[key]] == parts[2]) { back[parts[1]]++; break }
    }
    for (one in back) if (back[one] >= 2 && !(one in isMade)) isShown = 1
  }
  for (one in unmoved)
    if (unmoved[one] >= 2 && literalAnswers[one] >= 2 && !(one in isComputed)) isShown = 1 # A7
  for (one in nearLists)
    if (nearLists[one] >= ${nearListsMin} && !(one in matters) && (listed[one] >= 2 || (odd[one] && (one in isBeside)))) isShown = 1 # A6
  exit isShown ? 0 : 1
}`;

/** The awk program for a record and those after a change (A8). */
const compare = `
BEGIN { FS = "\t" }
$1 == "named" { isNamed[$2] = 1; next }
$3 != "is" && $3 != "near" { next }
FNR == NR { if ($3 == "is") answerTo[$1, $4] = $5; else nearAnswer[$1, $4] = $5; next }
$3 == "is" {
  if (!(($1, $4) in answerTo) || answerTo[$1, $4] == "" || answerTo[$1, $4] == $5) next
  if (!(($1, answerTo[$1, $4]) in isCounted)) { isCounted[$1, answerTo[$1, $4]] = 1; changed[$1]++ }
  count = split($4, args, "${argumentMark}")
  for (i = 1; i <= count; i++) if (args[i] in isNamed) next # A2
  isOpen[$1] = 1
  next
}
!(($1, $4) in nearAnswer) || (($1, $4) in answerTo) { next }
nearAnswer[$1, $4] != $5 { isMoved[$1] = 1; next }
{
  split($4, args, "${argumentMark}")
  if (args[$2 + 1] !~ /^[^0-9 ]*[A-Za-z][^0-9 ]*$/) unmoved[$1]++
}
END {
  for (name in isOpen) if (changed[name] >= 2 && unmoved[name] >= ${nearMin} && !(name in isMoved)) exit 0
  exit 1
}`;

type Recording = {
  /** The variable that holds the path of the record. */
  readonly variable: string;
  /** Inputs that the goal names. */
  readonly named: readonly string[];
  /** Inputs that the code names. */
  readonly written?: readonly string[];
  /** Numbers and texts that the code writes out. */
  readonly constants?: readonly string[];
  /** Whether the goal asks for answers that are drawn from a list (A9). */
  readonly isSpreading?: boolean;
  /** Texts that tests write out, if the goal asks to encode something (A10). */
  readonly expected?: readonly string[] | null;
  readonly secondsMax?: number;
};
/** Opens an empty record, with the inputs that the goal and the code name as its first lines. */
const openRecordCommand = ({
  variable,
  named,
  written = [],
  constants = [],
  isSpreading = false,
  expected = null,
}: Recording): string => {
  const lines = Object.entries({
    named,
    written,
    constant: constants,
    spreading: isSpreading ? ["yes"] : [],
    transforming: expected === null ? [] : ["yes"],
    expected: expected ?? [],
  }).flatMap(([kind, texts]) => texts.map((text) => [kind, text] as const));
  const firstLines = lines
    .map(([kind, text]) => `printf '${kind}\\t%s\\n' ${shellWord(text)} >> "$${variable}"; `)
    .join("");

  return `export ${variable}="$PWD/.${variable}" ${variable}_answer="$PWD/.${variable}_answer"; : > "$${variable}"; ${firstLines}`;
};

/**
 * Code may not terminate for an input that no test has. That shows nothing, so it is stopped if the
 * machine has `timeout`.
 */
const secondsMaxDefault = 90;
const bounded = ({ secondsMax = secondsMaxDefault }: Recording, command: string): string =>
  `if command -v timeout >/dev/null 2>&1; then timeout -k 1 ${secondsMax} sh -c ${shellWord(command)}; else (${command}); fi`;
/** The exit codes of `timeout`. */
const isStopped = '[ "$code" = 124 ] || [ "$code" = 137 ]';

/** Runs a command with recording functions; exits with 0 if the records show something. */
export const buildRecordedCommand = (recording: Recording, command: string): string =>
  `${openRecordCommand(recording)}{ ${bounded(recording, command)}; } >/dev/null 2>&1; code=$?; if ${isStopped}; then exit 1; fi; awk ${shellWord(decide)} "$${recording.variable}"`;

/**
 * The same, but it exits with 0 as well if the command does, was stopped, or recorded nothing: then
 * each has to be run alone.
 */
export const buildSharedCommand = (recording: Recording, command: string): string =>
  `${openRecordCommand(recording)}{ ${bounded(recording, command)}; }; code=$?; if [ "$code" = 0 ] || ${isStopped}; then exit 0; fi; grep -q '\tis\t' "$${recording.variable}" || exit 0; awk ${shellWord(decide)} "$${recording.variable}"`;

/** Runs a command, and again after each change; compares what was recorded (A8). */
export function buildComparingCommand(
  recording: Recording,
  command: string,
  changes: readonly string[],
): string {
  const { variable } = recording;
  const run = `${openRecordCommand(recording)}{ ${bounded(recording, command)}; } >/dev/null 2>&1; code=$?; if ${isStopped}; then exit 1; fi; `;
  const keepAs = (name: string): string => `mv "$${variable}" ".${variable}_${name}"; `;
  const runs = changes.map((change, index) => `${change}; ${run}${keepAs(`after${index}`)}`);
  const records = changes.map((_, index) => ` ".${variable}_after${index}"`);

  return `${run}${keepAs("before")}${runs.join("")}awk ${shellWord(compare)} ".${variable}_before"${records.join("")}`;
}

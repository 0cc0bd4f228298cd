// js-expect: the source of an `expect` of our own, for tests of vitest and jest that are called
// without their runner. Pure.
//
// Invariants:
//   E1. It fails only if vitest and jest fail for certain. With a matcher or a kind of value that
//       it does not know, it throws `Unfit`: such a test has neither passed nor failed.
//   E2. It leaves nothing in the process by which code could tell that it is there.

export const expectSource = `const { isDeepStrictEqual, types } = require("node:util");
class Failure extends Error {}
class Unfit extends Error {}
const unfit = () => { throw new Unfit(); };
class Wanted { constructor(fits) { this.fits = fits; } }
const isPlain = (v) => { const p = Object.getPrototypeOf(v); return p === null || p.constructor?.name === "Object" || Array.isArray(v); };
const keysOf = (v, isStrict) => Reflect.ownKeys(v).filter((k) => Object.prototype.propertyIsEnumerable.call(v, k) && (isStrict || v[k] !== undefined));
/** Whether they are equal; unfit where that cannot be told for certain. */
const same = (a, b, isStrict, seen = []) => {
  if (b instanceof Wanted) return b.fits(a);
  if (a instanceof Wanted) return a.fits(b);
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return typeof a === "function" && typeof b === "function" ? unfit() : false;
  if (seen.some(([left, right]) => left === a && right === b)) return true;
  const inner = [...seen, [a, b]];
  if (Array.isArray(a) !== Array.isArray(b)) return isStrict ? false : unfit();
  if (Array.isArray(a)) return a.length === b.length && (isPlain(a) && isPlain(b) && a.every((_, at) => same(a[at], b[at], isStrict, inner)));
  if (types.isDate(a) && types.isDate(b)) return a.getTime() === b.getTime();
  if (types.isMap(a) && types.isMap(b)) return a.size === b.size && (isDeepStrictEqual(a, b) || [...b].every(([k, v]) => (a.has(k) ? same(a.get(k), v, isStrict, inner) : unfit())));
  if (types.isSet(a) && types.isSet(b)) return a.size === b.size && (isDeepStrictEqual(a, b) || ([...a, ...b].every((v) => typeof v !== "object") ? [...b].every((v) => a.has(v)) : unfit()));
  if (isPlain(a) && isPlain(b)) {
    const [keysOfA, keysOfB] = [keysOf(a, isStrict), keysOf(b, isStrict)];
    return keysOfA.length === keysOfB.length && keysOfB.every((k) => Object.prototype.hasOwnProperty.call(a, k) && same(a[k], b[k], isStrict, inner));
  }
  return isDeepStrictEqual(a, b) || unfit();
};
const holds = (a, b) => (typeof a === "string" ? a.includes(b) : Symbol.iterator in Object(a) ? [...a].includes(b) : unfit());
const fitsError = (error, wanted) => {
  if (wanted === undefined) return true;
  const message = typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
  if (typeof wanted === "string") return message.includes(wanted);
  if (types.isRegExp(wanted)) return new RegExp(wanted.source, wanted.flags.replace("g", "")).test(message);
  if (typeof wanted === "function") return error instanceof wanted || (error?.constructor?.name === wanted.name ? unfit() : false);
  return types.isNativeError(wanted) && message === wanted.message ? true : unfit();
};
const partly = (a, b) => typeof a !== "object" || a === null || typeof b !== "object" || b === null ? unfit() : isPlain(b) && !Array.isArray(b) ? keysOf(b, true).every((k) => k in a && (typeof b[k] === "object" && b[k] !== null && !(b[k] instanceof Wanted) ? partly(a[k], b[k]) : same(a[k], b[k], false))) : same(a, b, false);
const number = (v) => (typeof v === "number" || typeof v === "bigint" ? v : unfit());
const matchers = {
  toBe: (a, b) => Object.is(a, b),
  toEqual: (a, b) => same(a, b, false),
  toStrictEqual: (a, b) => same(a, b, true) && (isDeepStrictEqual(a, b) || unfit()),
  toMatchObject: partly,
  toBeTruthy: (a) => Boolean(a),
  toBeFalsy: (a) => !a,
  toBeNull: (a) => a === null,
  toBeUndefined: (a) => a === undefined,
  toBeDefined: (a) => a !== undefined,
  toBeNaN: (a) => Number.isNaN(a),
  toBeTypeOf: (a, b) => typeof a === b,
  toBeInstanceOf: (a, b) => a instanceof b || unfit(),
  toBeGreaterThan: (a, b) => number(a) > number(b),
  toBeGreaterThanOrEqual: (a, b) => number(a) >= number(b),
  toBeLessThan: (a, b) => number(a) < number(b),
  toBeLessThanOrEqual: (a, b) => number(a) <= number(b),
  toBeCloseTo: (a, b, digits = 2) => a === b || Math.abs(number(a) - number(b)) < 10 ** -digits / 2,
  toContain: holds,
  toContainEqual: (a, b) => [...a].some((element) => same(element, b, false)),
  toHaveLength: (a, b) => (typeof b === "number" && typeof a?.length === "number" ? a.length === b : unfit()),
  toMatch: (a, b) => (typeof b === "string" ? a.includes(b) : new RegExp(b.source, b.flags.replace("g", "")).test(a)),
};
const claim = (isMet, isNot) => { if (isMet === isNot) throw new Failure("expected otherwise"); };
const thrownBy = (run) => { try { run(); } catch (error) { return [error]; } return []; };
/** What \`expect(value)\` returns: every matcher, \`not\`, \`resolves\` and \`rejects\`. */
const expectation = (value, isNot, isThrown = false) => new Proxy({}, {
  get(_target, name) {
    if (name === "then") return undefined;
    if (name === "not") return expectation(value, !isNot, isThrown);
    if (name === "resolves") return settled(Promise.resolve(typeof value === "function" ? value() : value), isNot, false);
    if (name === "rejects") return settled(Promise.resolve(typeof value === "function" ? value() : value).then(() => { throw new Failure("not rejected"); }, (error) => error), isNot, true);
    if (name === "toThrow" || name === "toThrowError")
      return (wanted) => {
        const thrown = isThrown ? [value] : thrownBy(value);
        if (thrown[0] instanceof Unfit || thrown[0] instanceof Failure) throw thrown[0];
        claim(thrown.length > 0 && fitsError(thrown[0], wanted), isNot);
      };
    const matcher = Object.hasOwn(matchers, name) ? matchers[name] : unfit();
    return (...wanted) => claim(matcher(value, ...wanted), isNot);
  },
});
const settled = (promise, isNot, isThrown) => {
  promise.catch(() => {});
  return new Proxy({}, {
    get: (_target, name) => (name === "not" ? settled(promise, !isNot, isThrown) : name === "then" ? undefined : async (...wanted) => expectation(await promise, isNot, isThrown)[name](...wanted)),
  });
};
const ofType = { String: "string", Number: "number", Boolean: "boolean", Function: "function", BigInt: "bigint", Symbol: "symbol" };
const expect = Object.assign((value) => expectation(value, false), {
  soft: (value) => expectation(value, false),
  assertions() {},
  hasAssertions() {},
  anything: () => new Wanted((v) => v !== null && v !== undefined),
  any: (type) => new Wanted((v) => (ofType[type.name] === undefined ? v instanceof type || (typeof v === "object" ? unfit() : false) : typeof v === ofType[type.name] || (typeof v === "object" && v !== null ? unfit() : false))),
  stringContaining: (part) => new Wanted((v) => typeof v === "string" && v.includes(part)),
  stringMatching: (part) => new Wanted((v) => typeof v === "string" && new RegExp(part).test(v)),
  arrayContaining: (list) => new Wanted((v) => Array.isArray(v) && list.every((wanted) => v.some((element) => same(element, wanted, false)))),
  objectContaining: (part) => new Wanted((v) => typeof v === "object" && v !== null && Reflect.ownKeys(part).every((k) => k in v && same(v[k], part[k], false))),
  closeTo: (b, digits = 2) => new Wanted((v) => typeof v === "number" && Math.abs(v - b) < 10 ** -digits / 2),
});
/** Mocks, timers and the like: whoever asks for one needs the runner. */
const runnerOnly = new Proxy({}, { get: unfit });
module.exports = { expect, Failure, runnerOnly };
`;

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
class AsymmetricMatcher { constructor(fits) { this.fits = fits; } }
const isObject = (v) => typeof v === "object" && v !== null;
const isPlain = (v) => {
  if (Array.isArray(v)) return true;
  const prototype = Object.getPrototypeOf(v);
  return prototype === null || prototype.constructor?.name === "Object";
};
const keysOf = (v, isStrict) => Reflect.ownKeys(v).filter((k) => {
  if (!Object.prototype.propertyIsEnumerable.call(v, k)) return false;
  if (isStrict || v[k] !== undefined) return true;
  return typeof k === "symbol" ? unfit() : false; // E1: vitest counts such a key
});
const sameMaps = (a, b, isStrict, seen) => {
  if (a.size !== b.size) return false;
  if (isDeepStrictEqual(a, b)) return true;
  return [...b].every(([k, v]) => (a.has(k) ? same(a.get(k), v, isStrict, seen) : unfit())); // E1: keys may be equal without being the same
};
const sameSets = (a, b) => {
  if (a.size !== b.size) return false;
  if (isDeepStrictEqual(a, b)) return true;
  if ([...a, ...b].some((v) => typeof v === "object")) return unfit(); // E1: elements may be equal without being the same
  return [...b].every((v) => a.has(v));
};
const samePlainObjects = (a, b, isStrict, seen) => {
  const [keysOfA, keysOfB] = [keysOf(a, isStrict), keysOf(b, isStrict)];
  if (keysOfA.length !== keysOfB.length) return false;
  return keysOfB.every((k) => Object.prototype.hasOwnProperty.call(a, k) && same(a[k], b[k], isStrict, seen));
};
/** Whether they are equal; unfit if that cannot be told for certain (E1). */
const same = (a, b, isStrict, seen = []) => {
  if (b instanceof AsymmetricMatcher) return b.fits(a);
  if (a instanceof AsymmetricMatcher) return a.fits(b);
  if (Object.is(a, b)) return true;
  if (typeof a === "function" && typeof b === "function") return unfit(); // E1
  if (!isObject(a) || !isObject(b)) return false;
  if (seen.some(([left, right]) => left === a && right === b)) return true;
  const inner = [...seen, [a, b]];
  if (Array.isArray(a) !== Array.isArray(b)) return isStrict ? false : unfit(); // E1
  if (Array.isArray(a)) return a.length === b.length && Array.from(a).every((element, at) => same(element, b[at], isStrict, inner));
  if (types.isDate(a) && types.isDate(b)) return a.getTime() === b.getTime();
  if (types.isMap(a) && types.isMap(b)) return sameMaps(a, b, isStrict, inner);
  if (types.isSet(a) && types.isSet(b)) return sameSets(a, b);
  if (isPlain(a) && isPlain(b)) return samePlainObjects(a, b, isStrict, inner);
  return isDeepStrictEqual(a, b) || unfit(); // E1
};
const contains = (a, b) => {
  if (typeof a === "string") return a.includes(b);
  return Symbol.iterator in Object(a) ? [...a].includes(b) : unfit(); // E1
};
const fitsError = (error, wanted) => {
  if (wanted === undefined) return true;
  const message = isObject(error) && "message" in error ? String(error.message) : String(error);
  if (typeof wanted === "string") return message.includes(wanted);
  if (types.isRegExp(wanted)) return new RegExp(wanted.source, wanted.flags.replace("g", "")).test(message);
  if (typeof wanted === "function") return error instanceof wanted || (error?.constructor?.name === wanted.name ? unfit() : false);
  return types.isNativeError(wanted) && message === wanted.message ? true : unfit(); // E1
};
/** Whether \`a\` has everything that \`b\` names: arrays element by element, objects key by key. */
const matchesPartially = (a, b, seen = []) => {
  if (!isObject(a) || !isObject(b)) return unfit(); // E1
  if (b instanceof AsymmetricMatcher) return b.fits(a);
  if (seen.includes(b)) return unfit(); // E1: it refers to itself
  const inner = [...seen, b];
  const matches = (left, right) => (isObject(right) && !(right instanceof AsymmetricMatcher) ? matchesPartially(left, right, inner) : same(left, right, false));
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && Array.from(b).every((element, at) => matches(a[at], element));
  if (!isPlain(b) || Array.isArray(b)) return same(a, b, false) || unfit(); // E1: what is in a Map may match in part
  const keys = keysOf(b, true);
  if (keys.some((k) => typeof k === "symbol")) return unfit(); // E1: jest compares these, vitest does not
  return keys.every((k) => k in a && matches(a[k], b[k]));
};
const number = (v) => (typeof v === "number" || typeof v === "bigint" ? v : unfit());
const matchers = {
  toBe: (a, b) => Object.is(a, b),
  toEqual: (a, b) => same(a, b, false),
  toStrictEqual: (a, b) => same(a, b, true) && (isDeepStrictEqual(a, b) || unfit()),
  toMatchObject: (a, b) => matchesPartially(a, b),
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
  toContain: contains,
  toContainEqual: (a, b) => [...a].some((element) => same(element, b, false)),
  toHaveLength: (a, b) => (typeof b === "number" && typeof a?.length === "number" ? a.length === b : unfit()),
  toMatch: (a, b) => (typeof b === "string" ? a.includes(b) : new RegExp(b.source, b.flags.replace("g", "")).test(a)),
};
const assertMet = (isMet, isNot) => { if (isMet === isNot) throw new Failure("expected otherwise"); };
const thrownBy = (run) => { try { run(); } catch (error) { return [error]; } return []; };
const promiseOf = (value) => Promise.resolve(typeof value === "function" ? value() : value);
const rejectionOf = (promise) => promise.then(() => { throw new Failure("not rejected"); }, (error) => error);
/** What \`expect(value)\` returns: every matcher, \`not\`, \`resolves\` and \`rejects\`. */
const expectation = (value, isNot, isThrown = false) => new Proxy({}, {
  get(_target, name) {
    if (name === "then") return undefined;
    if (name === "not") return expectation(value, !isNot, isThrown);
    if (name === "resolves") return settled(promiseOf(value), isNot, false);
    if (name === "rejects") return settled(rejectionOf(promiseOf(value)), isNot, true);
    if (name === "toThrow" || name === "toThrowError")
      return (wanted) => {
        const thrown = isThrown ? [value] : thrownBy(value);
        if (thrown[0] instanceof Unfit || thrown[0] instanceof Failure) throw thrown[0];
        assertMet(thrown.length > 0 && fitsError(thrown[0], wanted), isNot);
      };
    const matcher = Object.hasOwn(matchers, name) ? matchers[name] : unfit();
    return (...wanted) => assertMet(matcher(value, ...wanted), isNot);
  },
});
const settled = (promise, isNot, isThrown) => {
  promise.catch(() => {});
  return new Proxy({}, {
    get(_target, name) {
      if (name === "not") return settled(promise, !isNot, isThrown);
      if (name === "then") return undefined;
      return async (...wanted) => expectation(await promise, isNot, isThrown)[name](...wanted);
    },
  });
};
const ofType = { String: "string", Number: "number", Boolean: "boolean", Function: "function", BigInt: "bigint", Symbol: "symbol" };
const isOfType = (v, type) => {
  if (ofType[type.name] !== undefined && typeof v === ofType[type.name]) return true;
  if (ofType[type.name] === undefined && v instanceof type) return true;
  return isObject(v) || (v === null && ofType[type.name] === undefined) ? unfit() : false; // E1: a wrapper, or of another realm
};
const expect = Object.assign((value) => expectation(value, false), {
  soft: (value) => expectation(value, false),
  assertions() {},
  hasAssertions() {},
  anything: () => new AsymmetricMatcher((v) => v !== null && v !== undefined),
  any: (type) => new AsymmetricMatcher((v) => isOfType(v, type)),
  stringContaining: (part) => new AsymmetricMatcher((v) => typeof v === "string" && v.includes(part)),
  stringMatching: (part) => new AsymmetricMatcher((v) => typeof v === "string" && new RegExp(part).test(v)),
  arrayContaining: (list) => new AsymmetricMatcher((v) => Array.isArray(v) && list.every((wanted) => v.some((element) => same(element, wanted, false)))),
  objectContaining: (part) => new AsymmetricMatcher((v) => typeof v === "object" && v !== null && Reflect.ownKeys(part).every((k) => k in v && same(v[k], part[k], false))),
  closeTo: (b, digits = 2) => new AsymmetricMatcher((v) => typeof v === "number" && Math.abs(v - b) < 10 ** -digits / 2),
});
/** Mocks, timers and the like: whoever asks for one needs the runner. */
const runnerOnly = new Proxy({}, { get: unfit });
// E2: the tests get it as a module of their own; no global and no prototype is changed.
module.exports = { expect, Failure, runnerOnly };
`;

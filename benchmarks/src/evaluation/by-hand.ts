/*
 * The floor: what a programmer writes by hand for exactly the flags of the scenarios. Nobody can change them, nothing is
 * counted or explained, and users and versions must be well-formed.
 */

import { COUNTRIES, listedIds, manyNames, OLDEST_VERSION, type User } from './scenarios.js';

type Rule = (user: User) => boolean;

const listed = new Set(listedIds);
const colours = ['red', 'green', 'blue'].map((name) => ({ name, payload: { type: 'string', value: name } }));

const flags = new Map<string, Rule>([
  ['on-for-all', () => true],
  ['half', halfOf('half')],
  ['constrained', constrained()],
  ['versioned', ({ version }) => isAtLeast(version, OLDEST_VERSION)],
  ['listed', ({ id }) => listed.has(id)],
  ...manyNames.map((name): [string, Rule] => [name, halfOf(name)]),
]);
const variants = new Map([['varied', colourOf('varied')]]);

export function isOn(name: string, user: User): boolean {
  return flags.get(name)?.(user) ?? false;
}

export function variantOf(name: string, user: User) {
  return variants.get(name)?.(user);
}

function halfOf(group: string): Rule {
  const prefix = begin(`${group}:`, 0);
  return ({ id }) => hash(prefix, id) % 100 < 50;
}

function constrained(): Rule {
  const isInHalf = halfOf('constrained');
  return (user) => COUNTRIES.includes(user.country) && user.age >= 18 && isInHalf(user);
}

function colourOf(group: string) {
  const prefix = begin(`${group}:`, 86028157);
  return ({ id }: User) => {
    const bucket = hash(prefix, id) % 1000;
    return colours[bucket < 334 ? 0 : bucket < 667 ? 1 : 2];
  };
}

/** Compares versions of the form `1.2.3`. */
function isAtLeast(version: string, [major, minor, patch]: readonly [number, number, number]): boolean {
  const first = version.indexOf('.');
  const second = version.indexOf('.', first + 1);
  const ownMajor = Number(version.slice(0, first));
  if (ownMajor !== major) return ownMajor > major;
  const ownMinor = Number(version.slice(first + 1, second));
  if (ownMinor !== minor) return ownMinor > minor;
  return Number(version.slice(second + 1)) >= patch;
}

/** A begun MurmurHash3 of ASCII text. */
interface Begun {
  readonly state: number;
  /** The bytes after the last four. */
  readonly rest: number;
  readonly length: number;
}

function begin(text: string, seed: number): Begun {
  let state = seed;
  let rest = 0;
  for (let at = 0; at < text.length; at++) {
    rest |= text.charCodeAt(at) << (8 * (at & 3));
    if ((at & 3) === 3) {
      state = mix(state, rest);
      rest = 0;
    }
  }
  return { state, rest, length: text.length };
}

function hash(begun: Begun, text: string): number {
  let { state, rest, length } = begun;
  for (let at = 0; at < text.length; at++, length++) {
    rest |= text.charCodeAt(at) << (8 * (length & 3));
    if ((length & 3) === 3) {
      state = mix(state, rest);
      rest = 0;
    }
  }
  state ^= scramble(rest) ^ length;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

function mix(state: number, block: number): number {
  const mixed = state ^ scramble(block);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function scramble(block: number): number {
  const product = Math.imul(block, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}

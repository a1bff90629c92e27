import { compareSemver, isSemver } from './semver.js';
import type { ValueTestFactory } from './value-test.js';

export const sameVersion: ValueTestFactory = ordered((order) => order === 0);
export const newerVersion: ValueTestFactory = ordered((order) => order > 0);
export const sameOrNewerVersion: ValueTestFactory = ordered((order) => order >= 0);
export const olderVersion: ValueTestFactory = ordered((order) => order < 0);
export const sameOrOlderVersion: ValueTestFactory = ordered((order) => order <= 0);

function ordered(holds: (order: number) => boolean): ValueTestFactory {
  return ({ value: operand }) => {
    if (typeof operand !== 'string' || !isSemver(operand)) return undefined;
    return (value) => value !== undefined && isSemver(value) && holds(compareSemver(value, operand));
  };
}

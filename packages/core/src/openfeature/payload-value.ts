import type { Payload } from '../api/variants.js';
import { parseNumber } from '../validation/numeric.js';

/** What a payload can stand for. Objects and lists are frozen, throughout. */
export type PayloadValue = string | number | boolean | PayloadObject;

/** A JSON object or list. */
export interface PayloadObject {
  readonly [member: string]: unknown;
}

/** No application reads deeper JSON; what works on it recursively would exhaust the stack. */
const MAX_DEPTH = 100;

const values = new WeakMap<Payload, PayloadValue | undefined>();

/**
 * What a variant's payload stands for: the text of `string` and `csv`, the number of `number`, what the text of `json`
 * holds. Undefined for a text that holds no value: it is not of its type, is the JSON `null`, or nests deeper than 100
 * levels. Read once per payload object, which therefore may not be changed afterwards; those of `getVariant` are frozen.
 *
 * @example
 * const { payload } = flags.getVariant('checkout', { userId: '7' });
 * const limits = payload && payloadValue(payload);
 */
export function payloadValue(payload: Payload): PayloadValue | undefined {
  if (payload.type === 'string' || payload.type === 'csv') return payload.value;
  if (!values.has(payload)) values.set(payload, read(payload));
  return values.get(payload);
}

function read({ type, value }: Payload): PayloadValue | undefined {
  return type === 'number' ? parseNumber(value) : parseJson(value);
}

function parseJson(text: string): PayloadValue | undefined {
  try {
    const value = JSON.parse(text) as PayloadValue | null;
    return value !== null && frozenWithin(MAX_DEPTH, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Freezes level by level, without recursion. False when there are more levels than these. */
function frozenWithin(depth: number, value: unknown): boolean {
  let level = [value].filter(isObject);
  for (let left = depth; level.length > 0; left--) {
    if (left === 0) return false;
    level = level.flatMap((object) => Object.values(Object.freeze(object)).filter(isObject));
  }
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

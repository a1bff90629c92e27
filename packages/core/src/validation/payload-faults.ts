import type { Payload } from '../api/variants.js';
import type { ErrorDetail } from '../errors.js';
import { parseNumber } from './numeric.js';

/** A `json` payload must be JSON, a `number` payload a number. */
export function findPayloadFaults({ type, value }: Payload, path: string): readonly ErrorDetail[] {
  if (type === 'json' && !isJson(value)) return [{ message: 'must be a JSON text', path: `${path}/value` }];
  if (type === 'number' && parseNumber(value) === undefined) {
    return [{ message: 'must be a number', path: `${path}/value` }];
  }
  return [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

import type { JsonPatch } from '../common.types.js';
import type { ErrorDetail } from '../errors.js';
import { LIMITS } from './limits.js';
import type { JsonSchema } from './primitives.js';

const pointer: JsonSchema = {
  type: 'string',
  pattern: '^(?:/(?:[^~/]|~[01])*)*$',
  description: 'a JSON Pointer: empty, or starting with /, with ~ only as ~0 or ~1',
};

export const jsonPatch: JsonSchema = {
  type: 'array',
  maxItems: LIMITS.patchOperations,
  items: {
    type: 'object',
    properties: {
      op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: pointer,
      from: pointer,
      value: {},
    },
    required: ['op', 'path'],
  },
};

/** Each operation needs its operand: `value` or `from`. */
export function findPatchIssues(patch: JsonPatch): readonly ErrorDetail[] {
  return patch.flatMap((operation, index) => {
    const operand = operandOf(operation.op);
    if (operand === undefined || Object.hasOwn(operation, operand)) return [];
    return [{ message: `is required for ${operation.op}`, path: `/${index}/${operand}` }];
  });
}

function operandOf(op: JsonPatch[number]['op']): 'value' | 'from' | undefined {
  if (op === 'remove') return undefined;
  return op === 'move' || op === 'copy' ? 'from' : 'value';
}

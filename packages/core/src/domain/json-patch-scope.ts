import type { JsonPatchOperation } from '../api/json-patch.js';
import { patchRefusal } from './json-patch-refusal.js';
import { topMember } from './json-pointer.js';

/** Which top-level members of a document a patch may touch. */
export interface PatchScope {
  /** Members that it changes; every place of the document when absent. */
  readonly changeable?: readonly string[];
  /** Members that can be tested and copied from, while changes to them are left out without a word. */
  readonly kept?: readonly string[];
}

/** The operation as it is carried out within the scope; undefined when it would only change what is kept. */
export function effectiveOperation(
  operation: JsonPatchOperation,
  index: number,
  scope: PatchScope,
): JsonPatchOperation | undefined {
  refuseOutside(operation.path, { index, member: 'path', scope });
  if ('from' in operation) refuseOutside(operation.from, { index, member: 'from', scope });
  if (operation.op !== 'test' && isKept(operation.path, scope)) return undefined;
  if (operation.op === 'move' && isKept(operation.from, scope)) return { ...operation, op: 'copy' };
  return operation;
}

function isKept(pointer: string, { kept = [] }: PatchScope): boolean {
  return kept.includes(topMember(pointer));
}

function refuseOutside(
  pointer: string,
  { index, member, scope }: { index: number; member: 'path' | 'from'; scope: PatchScope },
): void {
  if (scope.changeable === undefined) return;
  if (scope.changeable.includes(topMember(pointer)) || isKept(pointer, scope)) return;
  const place = pointer === '' ? 'the whole document' : pointer;
  const places = scope.changeable.map((name) => `/${name}`).join(', ');
  throw patchRefusal(index, member, `leads to ${place}; a patch may change ${places}`);
}

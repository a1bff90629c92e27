import type { ChangeContext, Flag, FlagRef, Flags, Strategy, StrategyInput, StrategyRef, Variant } from '@flags/core';
import { FlagsError } from '@flags/core';
import {
  changeByFlag,
  FLAG_MEMBER_NAMES,
  FLAG_MEMBERS,
  isSameJson,
  membersOf,
  type RevisedResult,
  type StoredFlag,
} from '@flags/core/integration/http';
import { applyPatch, type JsonPatch, readPatch } from '../../changes/json-patch.js';
import { invalidInput } from '../../messages/errors.js';
import { asVariable, withVariableType } from './wire.js';

/*
 * The engine does not read JSON Patch. When it decides a change, a patch is applied to the state that the decision has
 * read. The result is the input of `updateFlag`, `updateStrategy` or `setVariants`.
 */

/** A request that changes a document by a patch. */
interface PatchRequest<Ref extends FlagRef> {
  readonly ref: Ref;
  /** The JSON Patch. Not validated yet. */
  readonly patch: unknown;
  readonly context: ChangeContext;
}

/**
 * Changes a flag by a JSON Patch (RFC 6902): all operations or none.
 *
 * The patch may change what `updateFlag` changes, and single labels by their indexes. Changes of `/name`, `/project`, `/createdAt`, `/lastSeen` and `/lastSeenAt` are ignored. The
 * patch can neither test nor copy the last two, because they are not stored with the flag.
 *
 * @throws FlagsError as `updateFlag`, and `invalid_patch`, `patch_test_failed`
 */
export async function patchFlag(flags: Flags, { ref, patch: input, context }: PatchRequest<FlagRef>): Promise<Flag> {
  const patch = readPatch(input);
  return changeByFlag(flags, 'updateFlag', {
    ref,
    context,
    call: { op: 'patchFlag', input },
    // The operation refuses an archived flag, before it looks at the input.
    inputFor: (flag) => (flag.archived ? {} : patchedMetadata(flag, patch)),
  });
}

/**
 * Changes a strategy by a JSON Patch. Changes of `/id` are ignored.
 *
 * @throws FlagsError as `updateStrategy`, and `invalid_patch`, `patch_test_failed`
 */
export async function patchStrategy(
  flags: Flags,
  { ref, patch: input, context }: PatchRequest<StrategyRef>,
): Promise<RevisedResult<Strategy>> {
  const patch = readPatch(input);
  const changed = await changeByFlag(flags, 'updateStrategy', {
    ref,
    context,
    call: { op: 'patchStrategy', input },
    inputFor(flag) {
      const strategy = strategyIn(flag, ref);
      // The operation refuses an archived flag, and an environment or a strategy that does not exist.
      return flag.archived || !strategy ? { name: 'default' } : patchedStrategy(strategy, patch);
    },
  });
  const strategy = strategyIn(changed, ref);
  if (strategy) return { result: strategy, revision: changed.revision };
  throw new FlagsError('strategy_not_found', `The flag ${ref.flag} has no strategy ${ref.strategy} any more.`);
}

/**
 * Changes the variants of a flag by a JSON Patch of their list.
 *
 * @throws FlagsError as `setVariants`, and `invalid_patch`, `patch_test_failed`
 */
export async function patchVariants(
  flags: Flags,
  { ref, patch: input, context }: PatchRequest<FlagRef>,
): Promise<RevisedResult<readonly Variant[]>> {
  const patch = readPatch(input);
  const { variants, revision } = await changeByFlag(flags, 'setVariants', {
    ref,
    context,
    call: { op: 'patchVariants', input },
    inputFor: (flag) => (flag.archived ? [] : patchedVariants(flag, patch)),
  });
  return { result: variants, revision };
}

/** Sets `weightType` to `variable` in variants that a patch adds without it, and in variants that lose it. */
export function patchWithVariableType(patch: JsonPatch): JsonPatch {
  return patch.map((operation) => {
    const { op, path } = operation;
    const depth = path.split('/').length;
    if (op === 'remove' && depth === 3 && path.endsWith('/weightType'))
      return { op: 'replace', path, value: 'variable' };
    if ((op !== 'add' && op !== 'replace') || depth > 2) return operation;
    const { value } = operation;
    return { op, path, value: depth === 1 ? withVariableType(value) : asVariable(value) };
  });
}

function strategyIn({ environments }: Pick<StoredFlag, 'environments'>, ref: StrategyRef): Strategy | undefined {
  return environments.find(({ name }) => name === ref.environment)?.strategies.find(({ id }) => id === ref.strategy);
}

/** The values of members that a patch removes. Other members cannot be removed. */
const REMOVED: Fields = Object.fromEntries(
  Object.entries(FLAG_MEMBERS).flatMap(([name, { removed }]) => (removed === undefined ? [] : [[name, removed]])),
);
const KEPT_BY_FLAG = ['name', 'project', 'createdAt', 'lastSeen', 'lastSeenAt'];

type Fields = Readonly<Record<string, unknown>>;

/** Returns the members that a patch changes. The patch may test other stored members, but cannot change them. */
export function patchedMetadata(flag: Omit<Flag, 'revision'>, patch: JsonPatch): Fields {
  const { name, project, createdAt } = flag;
  const view: Fields = { name, project, createdAt, ...membersOf(flag) };
  const result = applyPatch(view, patch, { changeable: FLAG_MEMBER_NAMES, readOnly: KEPT_BY_FLAG }) as Fields;
  return changesBetween(view, withoutGaps(result));
}

/** Unchanged members are not validated again: a flag's type may no longer be configured. */
function changesBetween(before: Fields, after: Fields): Fields {
  const changed = FLAG_MEMBER_NAMES.filter((member) => !isSameJson(before[member], after[member]));
  return Object.fromEntries(changed.map((member) => [member, after[member]]));
}

function withoutGaps(result: Fields): Fields {
  const removed = FLAG_MEMBER_NAMES.filter(
    (member) => !Object.hasOwn(REMOVED, member) && !Object.hasOwn(result, member),
  );
  if (removed.length > 0) {
    const details = removed.map((member) => ({ message: 'cannot be removed', path: `/${member}` }));
    throw new FlagsError('invalid_patch', `The patch cannot be applied: /${removed[0]} cannot be removed.`, details);
  }
  return { ...REMOVED, ...result };
}

const STRATEGY_MEMBERS: Readonly<Record<keyof StrategyInput<string>, true>> = {
  name: true,
  parameters: true,
  constraints: true,
  title: true,
  disabled: true,
  sortOrder: true,
  segments: true,
  variants: true,
};
const OF_STRATEGY = Object.keys(STRATEGY_MEMBERS);

/** Returns the strategy that replaces a patched one. */
export function patchedStrategy(strategy: Strategy, patch: JsonPatch): Fields {
  const { id: _, ...result } = applyPatch(strategy, patch, { changeable: OF_STRATEGY, readOnly: ['id'] }) as Fields;
  // A replacement without a name keeps the name.
  if (!Object.hasOwn(result, 'name')) throw invalidInput([{ message: 'is required', path: '/name' }]);
  return result;
}

/** Returns the variants after a patch. The patch may replace the list by any other value. */
export function patchedVariants({ variants }: Pick<Flag, 'variants'>, patch: JsonPatch): unknown {
  return applyPatch(variants, patch, {});
}

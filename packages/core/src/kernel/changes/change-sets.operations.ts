import { type ErrorDetail, FlagsError } from '../../base/errors.js';
import { isObject } from '../../base/json.js';
import { LIMITS } from '../../base/limits.js';
import { paced } from '../../base/paced.js';
import { invalidInput, locateRefusals } from '../../base/validator.js';
import type { Engine, PreparedChange } from '../engine.js';
import { readCommittedSet, readSet, toChangeSet } from '../log/change-set-log.js';
import { typeOfMember } from '../operation.js';
import type { ChangeEngine, SharedEngine, UnattributedContext } from './change-engine.js';
import type { ApplyOptions, ChangeSet, DocumentName, PlannedDocument } from './change-set.types.js';
import { toPlannedDocuments } from './planned.js';
import type { ExpectedRevision } from './refusals.js';
import { ChangesHash, readChangeSetId, withDerivedIds } from './repetition.js';
import { prepareCall, prepareChange, toContext, type UntypedChange } from './run-operation.js';

export async function applyChanges(
  engine: ChangeEngine,
  changes: readonly GivenChange[],
  options: ApplyOptions = {},
): Promise<ChangeSet> {
  const id = options.id === undefined ? undefined : readChangeSetId(options.id);
  const expected = readExpectedRevisions(engine, options.ifRevision);
  const hash = id === undefined ? undefined : new ChangesHash(engine);
  const prepared = await prepareAll(id === undefined ? engine : withDerivedIds(engine, id), changes, { hash });
  return commitSet(engine, prepared, { ...toContext(options, hash), expected });
}

/** Decides changes without a commit. Returns the documents that they would change, with their states. */
export async function planDocuments(
  engine: ChangeEngine,
  changes: readonly GivenChange[],
): Promise<readonly PlannedDocument[]> {
  return planPrepared(engine, await prepareAll(engine, changes));
}

/** Decides prepared changes as {@link planDocuments} does. */
export async function planPrepared(
  engine: ChangeEngine,
  changes: readonly PreparedChange[],
): Promise<readonly PlannedDocument[]> {
  return toPlannedDocuments(engine.registry, await engine.plan(changes));
}

/** The operations that the changes may have, and the hash to which they are added. */
interface PrepareOptions {
  /** Default: those of change sets. */
  readonly operations?: readonly string[];
  readonly hash?: ChangesHash | undefined;
  /** Whether the changes were accepted by an earlier call, such as the creation of a change request. */
  readonly areAccepted?: boolean;
}

/** Validates every change, and creates its ids and times. */
export async function prepareAll(
  engine: Engine & Pick<SharedEngine, 'validate' | 'due'>,
  changes: readonly GivenChange[],
  { operations = engine.operations.inSets, hash, areAccepted = false }: PrepareOptions = {},
): Promise<readonly PreparedChange[]> {
  const prepared: PreparedChange[] = [];
  const prepareOne = areAccepted ? prepareChange : prepareCall;
  for await (const [index, change] of paced(readChanges(engine, changes, operations).entries())) {
    const { op, ifRevision } = change;
    const path = `/changes/${index}`;
    const prepare = () => {
      hash?.add(change);
      return prepareOne(engine, engine.operations.find(op) as UntypedChange, change);
    };
    prepared.push({ op, ...(await locateRefusals(path, prepare, '/input')), ifRevision, path });
  }
  return prepared;
}

/** Commits a set. Returns it with its event ids and positions, or the first result of a repeated id. */
export async function commitSet(
  engine: ChangeEngine,
  changes: readonly PreparedChange[],
  context: UnattributedContext,
): Promise<ChangeSet> {
  const { id, at, actor } = await engine.run(changes, context);
  if (id === null) return { id, at, actor, reason: context.reason ?? null, events: [], revisions: {} };
  return readCommittedSet(id, async () => toChangeSet(engine.registry, await readSet(engine.storage, id)));
}

type Members = Readonly<Record<string, unknown>>;

/** A change of a set or of a change request. Its input is not validated yet. */
export interface GivenChange {
  readonly op: string;
  readonly ref?: unknown;
  readonly input?: unknown;
  readonly ifRevision?: number | readonly number[];
}

/**
 * Reads the changes of a set: known operations with valid references. Their inputs are not validated yet.
 *
 * @throws FlagsError `change_set_too_large`, `invalid_input` with one detail per issue, each with a JSON Pointer
 */
function readChanges(engine: Engine, changes: unknown, operations: readonly string[]): readonly GivenChange[] {
  if (!Array.isArray(changes)) throw invalidInput([{ message: 'must be a list of changes', path: '/changes' }]);
  if (changes.length > LIMITS.changesPerSet) {
    const message = `There are ${changes.length} changes, but a change set may have at most ${LIMITS.changesPerSet}; split them.`;
    throw new FlagsError('change_set_too_large', message, [{ message, path: '/changes' }]);
  }
  const issues: ErrorDetail[] = [];
  const read = changes.flatMap((change: unknown, index) => {
    const path = `/changes/${index}`;
    const found = findIssues(engine, change, { operations, path });
    if (changes.length > 1 && engine.operations.find(Object(change).op)?.isInRequests === 'alone') {
      found.push({ message: `must be the only change, because it is ${Object(change).op}`, path: `${path}/op` });
    }
    if (issues.length < LIMITS.issues) issues.push(...found);
    return found.length > 0 ? [] : [{ ...(change as GivenChange) }];
  });
  if (issues.length > 0) throw invalidInput(issues.slice(0, LIMITS.issues));
  return read;
}

function findIssues(
  engine: Engine,
  change: unknown,
  { operations, path }: { readonly operations: readonly string[]; readonly path: string },
): ErrorDetail[] {
  if (!isObject(change)) return [{ message: 'must be an object with the members op, ref and input', path }];
  const { op, ref, ifRevision } = change;
  const row = operations.some((name) => name === op) ? engine.operations.find(op as string) : undefined;
  if (!row) {
    return [{ message: `must be one of ${operations.join(', ')}`, path: `${path}/op` }];
  }
  return [...findRefIssues(row.ref, ref, `${path}/ref`), ...findRevisionIssues(ifRevision, `${path}/ifRevision`)];
}

function findRefIssues(members: readonly string[], ref: unknown, path: string): readonly ErrorDetail[] {
  if (members.length === 0) return [];
  if (!isObject(ref)) return [{ message: `must be an object with the members ${members.join(', ')}`, path }];
  return members.flatMap((member): readonly ErrorDetail[] => {
    const name = member.replace('?', '');
    const type = typeOfMember(member);
    if (typeof ref[name] === type || (member !== name && ref[name] === undefined)) return [];
    return [{ message: `must be a ${type}`, path: `${path}/${name}` }];
  });
}

function findRevisionIssues(ifRevision: unknown, path: string): readonly ErrorDetail[] {
  const revisions = ifRevision === undefined ? [] : [ifRevision].flat();
  return revisions.every(Number.isSafeInteger) ? [] : [{ message: 'must be a revision, or a list of revisions', path }];
}

/** Reads the revisions that a set expects. */
function readExpectedRevisions(
  engine: Engine,
  revisions: Readonly<Record<DocumentName, number>> | undefined,
): readonly ExpectedRevision[] {
  if (revisions === undefined) return [];
  // Documents whose revisions a caller can know.
  const kinds = engine.registry.kindsWithHistory.map(({ documents }) => documents.kind).sort();
  if (!isObject(revisions)) throw invalidInput([{ message: 'must be an object', path: '/ifRevision' }]);
  const entries = Object.entries(revisions as Members);
  if (entries.length > LIMITS.changesPerSet) {
    throw invalidInput([{ message: `must have at most ${LIMITS.changesPerSet} members`, path: '/ifRevision' }]);
  }
  return entries.map(([name, revision]) => {
    const path = `/ifRevision/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const slash = name.indexOf('/');
    const key = { kind: name.slice(0, slash), id: name.slice(slash + 1) };
    if (!kinds.includes(key.kind)) {
      throw invalidInput([{ message: `must be named as ${kinds.join('/…, ')}/…`, path }]);
    }
    if (!Number.isSafeInteger(revision)) throw invalidInput([{ message: 'must be a revision', path }]);
    return { key, revision: revision as number, path };
  });
}

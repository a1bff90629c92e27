import { v7 as timeOrderedId } from 'uuid';
import type { ChangeContext, ListPage, PageQuery } from '../base/common.types.js';
import { LIMITS } from '../base/limits.js';
import { pageBounds, takePage } from '../base/pages.js';
import { invalidInput } from '../base/validator.js';
import { bypassing } from '../changesets/change-set-writer.js';
import { type ProposableChange, prepareAll } from '../changesets/change-sets.operations.js';
import type { ChangeEngine, SetApproval } from '../changesets/engine.js';
import { CHANGE_OPERATIONS, PROPOSAL_OPERATIONS } from '../changesets/operations.js';
import { documentTooLarge } from '../changesets/refusals.js';
import { hashOf, readChangeSetId, withDerivedIds } from '../changesets/repetition.js';
import { cannotBeRepeated, toContext } from '../changesets/run-operation.js';
import {
  authorOf,
  type CommittedDocuments,
  type Engine,
  type PreparedChange,
  type UnitOfWork,
} from '../engine/engine.js';
import { FlagsError } from '../errors.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { DocumentReader, Read } from '../storage/documents.js';
import { listSummaries, type StoredSummary } from '../storage/summaries.js';
import * as rules from './schedule.decide.js';
import type { ScheduleState, ScheduleSummary } from './schedule.js';
import { ENDED, OPEN, scheduleDocuments } from './schedule.kind.js';
import { assertAhead, readTimes, validateScheduleQuery } from './schedule.schema.js';
import type { ListedSchedule, Schedule, ScheduleOptions, ScheduleQuery, ScheduleRef } from './schedule.types.js';
import { contentsOf, scopeOf } from './scope.js';

const { kind: KIND } = scheduleDocuments;

/** The approved proposal that a schedule applies. */
export interface ScheduledProposal {
  readonly id: string;
  /** The approval of the changes as they are now. */
  readonly approval: SetApproval;
  /** The revision of the proposal that the caller has read. */
  readonly expected: Pick<PreparedChange, 'revisionOf' | 'ifRevision'>;
  /** Writes the proposal in the commit of its schedule. */
  readonly schedule: (unit: UnitOfWork, schedule: string) => Promise<void>;
}

export async function createSchedule(
  engine: ChangeEngine,
  changes: readonly ProposableChange[],
  options: ScheduleOptions,
): Promise<Schedule> {
  return (await addSchedule(engine, changes, options)).schedule;
}

/** A schedule, and the documents after the commit that made it. */
interface AddedSchedule {
  readonly schedule: Schedule;
  readonly documents: Pick<CommittedDocuments, 'read'>;
}

export async function addSchedule(
  engine: ChangeEngine,
  changes: readonly ProposableChange[],
  options: ScheduleOptions,
  proposal?: ScheduledProposal,
): Promise<AddedSchedule> {
  assertSchedulesRun(engine);
  const { actor, reason, bypassApproval } = options;
  const context = toContext({ actor, reason, bypassApproval }, undefined);
  const given = readSchedule(engine, changes, options, { ...context, proposal: proposal?.id });
  const isRepeated = options.id !== undefined && (await engine.read(scheduleDocuments, given.id)) !== undefined;
  const { planned, isBypassed = false } = isRepeated ? {} : await planSchedule(engine, given, proposal?.approval);
  const attributed = isBypassed ? bypassing(context) : context;
  const change: PreparedChange = {
    subject: { kind: KIND, id: given.id },
    op: proposal ? 'applyProposal' : 'createSchedule',
    ...proposal?.expected,
    async decide(unit, by) {
      const author = authorOf(by);
      const existing = await unit.read(scheduleDocuments, given.id);
      if (existing) return rules.assertRepeated(existing.state, { ...given, author });
      if (!planned) throw scheduleNotFound(given.id);
      const schedule: ScheduleState = { ...planned, reason: attributed.reason ?? null, author };
      // The event does not have the changes, so it cannot create the document.
      await unit.put(scheduleDocuments, given.id, schedule);
      await unit.apply(scheduleDocuments, given.id, rules.createSchedule(schedule));
      await proposal?.schedule(unit, given.id);
    },
    result: () => undefined,
  };
  const { documents = engine } = await engine.run([change], attributed);
  const schedule = await findSchedule(documents.read, given.id);
  if (schedule.state === 'pending') engine.schedules.expect(schedule.id, Date.parse(schedule.at));
  return { schedule, documents };
}

/** Otherwise the host would accept what nobody carries out. */
function assertSchedulesRun({ schedules }: ChangeEngine): void {
  if (schedules.mode !== false) return;
  const message =
    'Schedules and rollouts are off: open the flags with runSchedules: true, or with runSchedules: "elsewhere" if ' +
    'another process carries them out.';
  throw new FlagsError('schedules_disabled', message);
}

type GivenSchedule = Pick<
  ScheduleState,
  'id' | 'at' | 'notAfter' | 'ifUnchanged' | 'createdAt' | 'hash' | 'reason' | 'proposal' | 'bypass'
> & { readonly changes: readonly ProposableChange[] };

interface Approved {
  readonly reason?: string | null | undefined;
  readonly bypass?: string | undefined;
  readonly proposal: string | undefined;
}

/** Validates what does not depend on stored state, and copies the changes: the caller may change them afterwards. */
function readSchedule(
  { now }: ChangeEngine,
  given: readonly ProposableChange[],
  options: ScheduleOptions,
  { reason = null, bypass, proposal }: Approved,
): GivenSchedule {
  const times = readTimes(options);
  const created = now();
  const id =
    options.id === undefined ? timeOrderedId({ msecs: Math.max(0, created.getTime()) }) : readChangeSetId(options.id);
  const changes = copyChanges(given);
  const of = [times.at, times.notAfter, times.ifUnchanged, proposal ?? null, bypass ?? null];
  const hash = asStored(() => hashOf([changes, ...of]));
  const approved = { ...(proposal && { proposal }), ...(bypass !== undefined && { bypass }) };
  return { id, ...times, changes, hash, reason, createdAt: created.toISOString(), ...approved };
}

/** Returns the changes as they are stored, without members that nobody reads. */
export function copyChanges(given: unknown): readonly ProposableChange[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw invalidInput([{ message: 'must be a list of changes, with one at least', path: '/changes' }]);
  }
  if (given.length > LIMITS.changesPerSet) return given;
  const known = given.map((change: unknown) => {
    if (typeof change !== 'object' || change === null) return change;
    const { op, ref, input, ifRevision } = change as Readonly<Record<string, unknown>>;
    return { op, ref, input, ifRevision };
  });
  return asStored(() => JSON.parse(JSON.stringify(known)));
}

function asStored<T>(convert: () => T): T {
  try {
    return convert();
  } catch {
    const message = 'must be JSON without cycles and of little depth, because they are stored';
    throw invalidInput([{ message, path: '/changes' }]);
  }
}

/** Plans the changes as `plan` does, so that they are refused now if they would be refused now. */
async function planSchedule(
  engine: ChangeEngine,
  given: GivenSchedule,
  approval: SetApproval | undefined,
): Promise<{ readonly planned: Omit<ScheduleState, 'author'>; readonly isBypassed: boolean }> {
  assertAhead(given, engine.now());
  const bytes = Buffer.byteLength(JSON.stringify(given.changes));
  if (bytes > LIMITS.documentBytes) throw documentTooLarge({ kind: KIND, id: given.id }, bytes, undefined);
  const prepared = await prepareScheduled(engine, given);
  const decided = await engine.plan(prepared);
  const isBypassed = await engine.gate.assertApproved(decided, { bypass: given.bypass, approval });
  const contents = given.ifUnchanged ? await contentsOf(decided.unit, prepared) : undefined;
  await assertRoom(engine, bytes);
  const scope = scopeOf(given.changes, decided);
  return { planned: { v: 1, state: 'pending', ...given, ...scope, bytes, ...(contents && { contents }) }, isBypassed };
}

/** Prepares the changes of a schedule. Their new ids follow from its id, or from that of its proposal. */
export function prepareScheduled<E extends Pick<ChangeEngine, keyof Engine | 'validate'>>(
  engine: E,
  { id, proposal, changes }: Pick<ScheduleState, 'id' | 'proposal' | 'changes'>,
): Promise<readonly PreparedChange[]> {
  const operations = proposal === undefined ? CHANGE_OPERATIONS : PROPOSAL_OPERATIONS;
  return prepareAll(withDerivedIds(engine, proposal ?? id), changes as readonly ProposableChange[], { operations });
}

async function assertRoom(engine: ChangeEngine, bytes: number): Promise<void> {
  let [count, total] = [1, bytes];
  for await (const { summary } of listScheduleSummaries(engine, OPEN)) {
    count += 1;
    total += summary.bytes;
  }
  const full = count > LIMITS.pendingSchedules || total > LIMITS.pendingScheduleBytes;
  if (!full) return;
  const message = `would be one too many: at most ${LIMITS.pendingSchedules} schedules may be pending, and ${LIMITS.pendingScheduleBytes} bytes of changes. Cancel some`;
  throw invalidInput([{ message, path: '' }]);
}

export function getSchedule({ read }: ChangeEngine, { schedule }: ScheduleRef): Promise<Schedule> {
  return findSchedule(read, schedule);
}

/** Rejects with `schedule_not_found`. */
async function findSchedule(read: Read, id: string): Promise<Schedule> {
  const { state, revision } = (await read(scheduleDocuments, id)) ?? throwNotFound(id);
  return { ...toListed(state, revision), changes: state.changes as Schedule['changes'] };
}

function throwNotFound(id: string): never {
  throw scheduleNotFound(id);
}

/** Returns the error for a schedule that does not exist, and for one that the caller may not read. */
export function scheduleNotFound(id: string): FlagsError {
  return new FlagsError('schedule_not_found', `There is no schedule ${id}; list the schedules for existing ids.`);
}

/** Members by name: they are part of the public API. */
export function toListed(summary: ScheduleSummary, revision: number): ListedSchedule {
  const { id, state, at, notAfter, ifUnchanged, author, createdAt, reason, projects, flags, environments } = summary;
  const { proposal = null, endedAt = null, lateBy = null, changeSet = null, failure = null } = summary;
  const times = { at, notAfter, ifUnchanged, author, createdAt, reason, proposal };
  return { id, state, ...times, projects, flags, environments, endedAt, lateBy, changeSet, failure, revision };
}

/** Decides whether the caller may read a schedule. */
export type CanReadSchedule = (schedule: ListedSchedule) => Promise<boolean>;

export async function listSchedules(
  engine: ChangeEngine,
  query: ScheduleQuery = {},
  { page, canRead }: { readonly page?: PageQuery | undefined; readonly canRead?: CanReadSchedule } = {},
): Promise<ListPage<ListedSchedule>> {
  const selected = validateScheduleQuery(query);
  const bounds = pageBounds(page);
  return takePage(select(engine, selected, { after: bounds.after, canRead }), bounds, {
    cursorOf: ({ id }) => id,
    sizeOf: (schedule) => JSON.stringify(schedule).length,
  });
}

async function* select(
  engine: ChangeEngine,
  { state, project, flag }: ScheduleQuery,
  { after, canRead }: { readonly after: string | undefined; readonly canRead: CanReadSchedule | undefined },
): AsyncGenerator<ListedSchedule> {
  const parent = state === undefined ? undefined : state === 'pending' ? OPEN : ENDED;
  const stored = engine.memory.statesOf(flagDocuments);
  for await (const { summary, revision } of listScheduleSummaries(engine, parent, after)) {
    if (state !== undefined && summary.state !== state) continue;
    if (flag !== undefined && !summary.flags.some((one) => one.flag === flag)) continue;
    const isIn = (one: string) =>
      summary.projects.includes(one) || summary.flags.some((of) => stored.get(of.flag)?.project === one);
    if (project !== undefined && !isIn(project)) continue;
    const listed = toListed(summary, revision);
    if (!canRead || (await canRead(listed))) yield listed;
  }
}

/** Reads the summaries of schedules by id, never their changes. */
export function listScheduleSummaries(
  reader: Pick<DocumentReader, 'list'>,
  parent?: string,
  after?: string,
): AsyncGenerator<StoredSummary<ScheduleSummary>> {
  return listSummaries(reader, { kind: KIND, parent, after });
}

export async function cancelSchedule(
  engine: ChangeEngine,
  { schedule: id }: ScheduleRef,
  context: ChangeContext = {},
): Promise<Schedule> {
  if (context.id !== undefined) throw cannotBeRepeated('cancelSchedule');
  const endedAt = engine.now().toISOString();
  const change: PreparedChange = {
    subject: { kind: KIND, id },
    op: 'cancelSchedule',
    ifRevision: context.ifRevision,
    async decide(unit) {
      const { state } = (await unit.read(scheduleDocuments, id)) ?? throwNotFound(id);
      await unit.apply(scheduleDocuments, id, rules.cancelSchedule(state, endedAt));
      const isNew = state.state !== 'cancelled';
      if (isNew && state.proposal) await engine.proposals.follow(unit, state.proposal, { state: 'cancelled', endedAt });
    },
    result: () => undefined,
  };
  const { documents = engine } = await engine.run([change], toContext(context, undefined));
  return findSchedule(documents.read, id);
}

import type { ChangeContext, FlagRef, ListPage, PageQuery } from './base/common.types.js';
import type { ChangeRequestQuery } from './features/change-requests/change-request.js';
import type { ListedChangeRequest } from './features/change-requests/change-request.types.js';
import { type CanReadRequest, listChangeRequests } from './features/change-requests/requests.js';
import type { Definitions, ExportQuery, ImportResult } from './features/definitions/definition.types.js';
import { type CanReadDefinitions, exportDefinitions } from './features/definitions/export-definitions.js';
import { importDefinitions } from './features/definitions/import-definitions.js';
import { findFlag, flagDocuments, referredSegments } from './features/flags/flag.kind.js';
import { type BesideFlag, toDetail } from './features/flags/flag.operations.js';
import type { FlagDetail } from './features/flags/flag.types.js';
import {
  type CanReadProject,
  type FlagEntry,
  listEntries,
  listFlagsOfReadableProjects,
} from './features/flags/flag-lists.js';
import type { FlagPage, FlagQuery } from './features/flags/flag-search.types.js';
import type { Rollout, RolloutQuery } from './features/rollouts/rollout.types.js';
import { type CanReadRollout, listRollouts } from './features/rollouts/rollouts.operations.js';
import type { Token } from './features/tokens/token.types.js';
import {
  issueTicket as issueTokenTicket,
  verifyTicket as verifyTokenTicket,
} from './features/tokens/token-verification.operations.js';
import { type ChangeArguments, type OperationName, operationOf, type ResultOf } from './features.js';
import type { Flags } from './flags.js';
import type { FlagsEngine, SharedFlagsEngine } from './flags-engine.js';
import {
  commitChange,
  commitPrepared,
  prepareChange,
  resultOf,
  run,
  type UntypedChange,
  withEngine,
} from './kernel/changes/run-operation.js';
import type { Engine, PreparedChange } from './kernel/engine.js';
import { type Call, call, defineOperations, NO_REFERENCE } from './kernel/operation.js';

/*
 * The part of `Flags` that only routers need.
 */

/** The results that a data version covers. */
export type DataVersionScope = 'flags' | 'projects';

/** The operations that only routers call. */
const routerOperations = defineOperations({
  dataVersion: call({
    ref: NO_REFERENCE,
    run: (engine: FlagsEngine, { input }: Call<undefined, DataVersionScope>) => readDataVersion(engine, input),
  }),
  issueTicket: call({
    ref: NO_REFERENCE,
    run: (engine: FlagsEngine, { input }: Call<undefined, Token>) => issueTokenTicket(engine, input),
  }),
  verifyTicket: call({
    ref: NO_REFERENCE,
    run: (engine: FlagsEngine, { input }: Call<undefined, string>) => verifyTokenTicket(engine, input),
  }),
  loadDefinitions: call({
    ref: NO_REFERENCE,
    run: (engine: FlagsEngine, { input }: Call<undefined, Definitions>) => importDefinitions(engine, input, {}, false),
  }),
  projectOfSegment: call({
    ref: NO_REFERENCE,
    async run({ memory }: FlagsEngine, { input }: Call<undefined, number>) {
      const status = await memory.refresh();
      if (status.state === 'stale') throw status.error;
      return memory.statesOf(referredSegments).get(`${input}`)?.project ?? null;
    },
  }),
  listReadableFlags: call({
    ref: NO_REFERENCE,
    run: (
      engine: FlagsEngine,
      { input, context }: Call<undefined, ReadableQuery<FlagQuery, CanReadProject>, PageQuery | undefined>,
    ) => listFlagsOfReadableProjects(engine, input.query, { page: context, canRead: input.canRead }),
  }),
  listFlagEntries: call({
    ref: NO_REFERENCE,
    run: (engine: FlagsEngine, { input, context }: Call<undefined, FlagQuery, PageQuery | undefined>) =>
      listEntries(engine, input, context),
  }),
  exportReadableDefinitions: call({
    ref: NO_REFERENCE,
    run: (engine: FlagsEngine, { input }: Call<undefined, ReadableQuery<ExportQuery, CanReadDefinitions>>) =>
      exportDefinitions(engine, input.query, { canRead: input.canRead, isReadOnly: true }),
  }),
  listReadableChangeRequests: call({
    ref: NO_REFERENCE,
    run: async (
      engine: FlagsEngine,
      { input, context }: Call<undefined, ReadableQuery<ChangeRequestQuery, CanReadRequest>, PageQuery>,
    ) => {
      const query = engine.validate.changeRequestQuery(input.query);
      return listChangeRequests(engine, { input: query, context, canRead: input.canRead });
    },
  }),
  listReadableRollouts: call({
    ref: NO_REFERENCE,
    run: (
      engine: FlagsEngine,
      { input, context }: Call<undefined, ReadableQuery<RolloutQuery, CanReadRollout>, PageQuery>,
    ) => listRollouts(engine, input.query, { page: context, canRead: input.canRead }),
  }),
  acceptsTimes: call({ ref: NO_REFERENCE, run: async ({ due }: FlagsEngine, _: Call) => due.mode !== false }),
});

/** A query of those documents that the caller may read. */
interface ReadableQuery<Query, CanRead> {
  readonly query: Query;
  readonly canRead: CanRead;
}

/**
 * Returns an opaque data version. Changes whenever stored state changes, in any process; that includes reported usage,
 * which tells when flags were last seen. The version of `projects` also changes every minute, because health depends on
 * the age of flags, in days. While the version is unchanged, results derived from earlier reads are still valid.
 *
 * @returns undefined if the storage has no data version, or if the usage is in another storage
 */
export function dataVersion(flags: Flags, scope: DataVersionScope = 'flags'): Promise<string | undefined> {
  return run(flags, routerOperations.dataVersion, { input: scope });
}

const MINUTE = 60_000;

async function readDataVersion(engine: FlagsEngine, scope: DataVersionScope): Promise<string | undefined> {
  const { storage, now } = engine;
  if (!storage.dataVersion || engine.usage !== storage.usage) return undefined;
  const stored = await storage.dataVersion();
  return scope === 'flags' ? stored : `${stored} ${Math.floor(now().getTime() / MINUTE)}`;
}

/** Returns the ticket of a token for streams of browsers; undefined for a token that has ended or has too many projects. */
export function issueTicket(flags: Flags, token: Token): Promise<string | undefined> {
  return run(flags, routerOperations.issueTicket, { input: token });
}

/** Resolves to the token of a ticket that is valid now; undefined for every other text. */
export function verifyTicket(flags: Flags, ticket: string): Promise<Token | undefined> {
  return run(flags, routerOperations.verifyTicket, { input: ticket });
}

/**
 * Loads definitions into an engine in memory, to plan a change of the store that they come from: with every fault that
 * the store has, because only new ones are refused.
 */
export function loadDefinitions(flags: Flags, definitions: Definitions): Promise<ImportResult> {
  return run(flags, routerOperations.loadDefinitions, { input: definitions });
}

/**
 * Returns the project of a segment; null for a segment of the instance, and if there is none. From memory, with every change
 * that was committed before the call: a permission check must not parse a large segment.
 */
export function projectOfSegment(flags: Flags, segment: number): Promise<string | null> {
  return run(flags, routerOperations.projectOfSegment, { input: segment });
}

/**
 * Like `listFlags`, for the projects that the caller may read. Calls `canRead` once per project. An unknown project has no
 * flags.
 */
export function listReadableFlags(
  flags: Flags,
  query: FlagQuery,
  { page, canRead }: { readonly page?: PageQuery; readonly canRead: CanReadProject },
): Promise<FlagPage> {
  return run(flags, routerOperations.listReadableFlags, { input: { query, canRead }, context: page });
}

/** Like `listFlags`, in name order, with what the HTTP API shows of the flags of a project and of archived flags. */
export function listFlagEntries(flags: Flags, query: FlagQuery, page?: PageQuery): Promise<ListPage<FlagEntry>> {
  return run(flags, routerOperations.listFlagEntries, { input: query, context: page });
}

/**
 * Like `exportDefinitions`, for the projects that the caller may read; null: segments of the instance. The caller must not
 * change the result.
 */
export function exportReadableDefinitions(
  flags: Flags,
  query: ExportQuery,
  canRead: CanReadDefinitions,
): Promise<Definitions> {
  return run(flags, routerOperations.exportReadableDefinitions, { input: { query, canRead } });
}

/** Like `flags.changeRequests.list`, for the requests that the caller may read. */
export function listReadableChangeRequests(
  flags: Flags,
  query: ChangeRequestQuery,
  { page, canRead }: { readonly page: PageQuery; readonly canRead: CanReadRequest },
): Promise<ListPage<ListedChangeRequest>> {
  return run(flags, routerOperations.listReadableChangeRequests, { input: { query, canRead }, context: page });
}

/** Like `listRollouts`, for the rollouts that the caller may read. */
export function listReadableRollouts(
  flags: Flags,
  query: RolloutQuery,
  { page, canRead }: { readonly page: PageQuery; readonly canRead: CanReadRollout },
): Promise<ListPage<Rollout>> {
  return run(flags, routerOperations.listReadableRollouts, { input: { query, canRead }, context: page });
}

/** Resolves to whether a time is accepted: whether the option `due.run` says who does what is due. */
export function acceptsTimes(flags: Flags): Promise<boolean> {
  return run(flags, routerOperations.acceptsTimes, {});
}

/** A result, with the revision of the document after the change, for an `ETag`. */
export interface RevisedResult<Result> {
  readonly result: Result;
  /** Undefined if the change has deleted the document. */
  readonly revision: number | undefined;
}

function rowOf(op: OperationName): UntypedChange {
  return operationOf(op) as UntypedChange;
}

/** Runs an operation like its method of `Flags`, and returns the revision with the result. */
export async function changeRevised<Name extends OperationName>(
  flags: Flags,
  op: Name,
  given: ChangeArguments<Name>,
): Promise<RevisedResult<ResultOf<Name>>> {
  const committed = await commitChange(flags, rowOf(op), given);
  const { kind, id } = committed.prepared.subject;
  // The committed documents are in memory, so this does not read the storage.
  const written = await committed.documents.read({ kind, parentOf: () => null }, id);
  return { result: await resultOf<ResultOf<Name>>(committed), revision: written?.revision };
}

/** A change of a flag whose input follows from the flag, as that of a JSON Patch does. */
export interface DerivedChange<Ref extends FlagRef> {
  readonly ref: Ref;
  /** The call of the client. A repeated id is compared with it, and planned events name its operation. */
  readonly call: { readonly op: string; readonly input: unknown };
  /** Returns the input of the operation from the flag. Runs in every decision, so again after a conflict. */
  readonly inputFor: (flag: StoredFlag) => unknown;
  readonly context: ChangeContext;
}

/** A flag without what is not stored with it. */
export type StoredFlag = Omit<FlagDetail, keyof BesideFlag>;

/**
 * Runs an operation whose input follows from the flag. The change set writer reads the flag, repeats after conflicts, and
 * finds the first result of a repeated id, so nobody has to lock the flag. Resolves to the flag after the change.
 */
export function changeByFlag<Ref extends FlagRef>(
  flags: Flags,
  op: 'updateFlag' | 'updateStrategy' | 'setVariants',
  { ref, call, inputFor, context }: DerivedChange<Ref>,
): Promise<StoredFlag> {
  return withEngine(flags, rowOf(op), { ref, context }, async (engine) => {
    const committed = await commitPrepared(engine, {
      // The operation has no row that names the members of its reference, so the input contains it.
      call: { op: call.op, input: [ref, call.input] },
      context,
      prepare: (own) => prepareDerived(own, { op, ref, inputFor }),
    });
    return resultOf<StoredFlag>(committed);
  });
}

interface DerivedInput extends Pick<DerivedChange<FlagRef>, 'ref' | 'inputFor'> {
  readonly op: OperationName;
}

function prepareDerived(engine: SharedFlagsEngine, { op, ref, inputFor }: DerivedInput): PreparedChange<StoredFlag> {
  const findStored = async (read: Engine['read']): Promise<StoredFlag> =>
    toDetail(await findFlag(read, ref), { settings: engine.settings, lastSeenAt: null, children: [] });
  return {
    subject: { kind: flagDocuments.kind, id: ref.flag },
    async decide(unit, by) {
      const input = inputFor(await findStored(unit.read));
      const { decide } = await prepareChange(engine, rowOf(op), { ref, input });
      await decide(unit, by);
    },
    result: ({ read }) => findStored(read),
  };
}

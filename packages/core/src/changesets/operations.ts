import { copyJson } from '../base/json.js';
import { invalidInput } from '../base/validator.js';
import { exportDefinitions } from '../definitions/export.operations.js';
import { importDefinitions } from '../definitions/import.operations.js';
import { FlagsError } from '../errors.js';
import type { EvaluationOperations } from '../evaluation/evaluation.types.js';
import { listEvents, listNextEvents } from '../events/event.operations.js';
import * as dependencies from '../flags/dependencies.operations.js';
import * as flags from '../flags/flag.operations.js';
import * as flagLists from '../flags/flag-lists.operations.js';
import type { ActorOptions, DataVersionScope, Flags } from '../flags.js';
import { getChangeSet, history, listChangeSetProjects } from '../history/history.operations.js';
import * as members from '../projects/members.operations.js';
import * as projects from '../projects/project.operations.js';
import * as segments from '../segments/segment.operations.js';
import * as tokens from '../tokens/token.operations.js';
import type { Token } from '../tokens/token.types.js';
import { verifyToken } from '../tokens/token-verification.operations.js';
import * as applications from '../usage/applications.operations.js';
import * as reports from '../usage/report.operations.js';
import * as seenFlags from '../usage/seen-flags.operations.js';
import { listUsage } from '../usage/usage-over-time.operations.js';
import { assertArguments, assertChangeArguments, assertOptions } from './argument-checks.js';
import type { ChangeOperation } from './change-operations.js';
import type { AuthorizeChanges } from './change-set.types.js';
import * as changeSets from './change-sets.operations.js';
import type { DocumentReader } from './documents.js';
import type { Engine, PreparedChange, SetContext, UnattributedContext } from './engine.js';
import { plan } from './plan.operations.js';
import { preview } from './preview.operations.js';
import { planUndo, undo } from './undo.operations.js';
import { READ_REFERENCES, SINGLE_ONLY, VOCABULARY } from './vocabulary.js';

const MINUTE = 60_000;

/** Returns the data version. It covers usage, so it is undefined if another storage holds the usage. */
async function dataVersion(engine: Engine, subject: DataVersionScope = 'flags'): Promise<string | undefined> {
  const { storage, now } = engine;
  if (!storage.dataVersion || engine.usage !== storage.usage) return undefined;
  const stored = await storage.dataVersion();
  return subject === 'flags' ? stored : `${stored} ${Math.floor(now().getTime() / MINUTE)}`;
}

type OtherMembers = 'settings' | 'as' | 'closing' | 'close' | 'subscribe' | 'asOf' | keyof EvaluationOperations;
type OperationName = Exclude<keyof Flags, OtherMembers>;

/** A public operation as a function of the engine and the method's parameters. */
type Operation<Name extends OperationName> = (
  engine: Engine,
  ...input: Parameters<Flags[Name]>
) => ReturnType<Flags[Name]>;
type OperationTable = { readonly [Name in OperationName]: Operation<Name> };

/** The operations of one change. */
const CHANGES = { ...VOCABULARY, ...SINGLE_ONLY } satisfies Partial<Record<OperationName, ChangeOperation>>;

/** The operations of change sets. Events name the actor. */
const CHANGE_SETS = {
  apply: changeSets.apply,
  plan,
  preview,
  undo,
  planUndo,
  importDefinitions,
} satisfies Partial<OperationTable>;

type ChangeName = keyof typeof CHANGES | keyof typeof CHANGE_SETS;
const CHANGE_NAMES = Object.keys({ ...CHANGES, ...CHANGE_SETS }) as ChangeName[];

/** The operations that are the same for every actor. */
const READS_AND_REPORTS: Omit<OperationTable, ChangeName> = {
  listProjects: projects.listProjects,
  getProject: projects.getProject,
  listMembers: members.listMembers,
  listFlags: flagLists.listFlags,
  listArchivedFlags: flagLists.listArchivedFlags,
  getFlag: flags.getFlag,
  locateFlag: flags.locateFlag,
  listPossibleParents: dependencies.listPossibleParents,
  listSegments: segments.listSegments,
  getSegment: segments.getSegment,
  listSegmentUses: segments.listSegmentUses,
  listTokens: tokens.listTokens,
  verifyToken,
  listEvents,
  listNextEvents,
  history,
  getChangeSet,
  listChangeSetProjects,
  exportDefinitions,
  registerApplication: reports.registerApplication,
  reportMetrics: reports.reportMetrics,
  reportMetricsInBulk: reports.reportMetricsInBulk,
  countEvaluations: reports.countEvaluations,
  listSeenFlags: seenFlags.listSeenFlags,
  listUsage,
  listApplications: applications.listApplications,
  getApplication: applications.getApplication,
  deleteApplication: applications.deleteApplication,
  listApplicationsByFlag: seenFlags.listApplicationsByFlag,
  dataVersion,
};

/** Binds the changes to an engine and its actor. */
export function bindChanges(engine: Engine, lifetime: Lifetime): Pick<Flags, ChangeName> {
  const bound = Object.fromEntries(CHANGE_NAMES.map((name) => [name, bindChange(name, engine, lifetime)]));
  return bound as unknown as Pick<Flags, ChangeName>;
}

/** The key of an interface's engine. A private field would fail in objects that inherit from the interface. */
const ENGINE = Symbol('engine');

/**
 * Returns a function that creates the interface of an actor. A router creates one per request, so a change is bound at
 * its first use: binding all of them would take longer than the rest of a request.
 *
 * @param shared the members that are the same for all actors
 */
export function createActorInterfaces(shared: Omit<Flags, ChangeName>, lifetime: Lifetime): (engine: Engine) => Flags {
  class ActorInterface {
    readonly [ENGINE]: Engine;

    constructor(engine: Engine) {
      this[ENGINE] = engine;
    }

    static {
      Object.assign(ActorInterface.prototype, shared);
      for (const name of CHANGE_NAMES) {
        Object.defineProperty(ActorInterface.prototype, name, {
          enumerable: true,
          get(this: ActorInterface) {
            return bindChange(name, this[ENGINE], lifetime);
          },
        });
      }
    }
  }
  return (engine) => new ActorInterface(engine) as unknown as Flags;
}

function bindChange(name: ChangeName, engine: Engine, lifetime: Lifetime): AnyMethod {
  const operation = CHANGES[name as keyof typeof CHANGES];
  if (!operation) return bindOperation(name, CHANGE_SETS[name as keyof typeof CHANGE_SETS], { engine, lifetime });
  return (...input) => lifetime.track(() => runChange(engine, operation, { name, input }));
}

/** A call of a method of `Flags`. */
interface MethodCall {
  readonly name: OperationName;
  readonly input: readonly unknown[];
}

/** Runs one operation as a change set of one change. */
async function runChange(
  engine: Engine,
  { prepare, split, ref }: ChangeOperation,
  { name, input }: MethodCall,
): Promise<unknown> {
  const change = split(...input);
  assertChangeArguments(name, ref, change);
  const preparing = prepare(engine, change);
  const unnamed = preparing instanceof Promise ? await preparing : preparing;
  const prepared = engine.authorize ? { ...unnamed, op: name } : unnamed;
  if (!change.context) return resultOf(prepared, (await engine.run([prepared], undefined)).documents);
  const { actor, onRevision, ifRevision } = change.context;
  const single = ifRevision === undefined ? prepared : { ...prepared, ifRevision };
  const { documents } = await engine.run([single], actor === undefined ? {} : { actor });
  if (onRevision) await reportRevision(prepared, documents, onRevision);
  return resultOf(prepared, documents);
}

/** Returns a copy that callers may change: the storage may keep the documents themselves in memory. */
async function resultOf({ result }: PreparedChange, documents: DocumentReader): Promise<unknown> {
  return copyJson(await result(documents));
}

/**
 * Passes the new revision to `onRevision`. The committed documents are in memory, so this does not read the storage.
 */
async function reportRevision(
  { subject: { kind, id } }: PreparedChange,
  { read }: DocumentReader,
  onRevision: (revision: number) => void,
): Promise<void> {
  const written = await read({ kind, parentOf: () => null }, id);
  if (written) onRevision(written.revision);
}

/** Binds the operations that do not depend on the actor. */
export function bindReadsAndReports(engine: Engine, lifetime: Lifetime): Pick<Flags, keyof typeof READS_AND_REPORTS> {
  return bind(READS_AND_REPORTS, engine, lifetime) as Pick<Flags, keyof typeof READS_AND_REPORTS>;
}

type AnyOperation = (engine: Engine, ...input: never[]) => Promise<unknown>;
type AnyMethod = (...input: never[]) => Promise<unknown>;

/** Binds operations to an engine. */
function bind(table: Readonly<Record<string, AnyOperation>>, engine: Engine, lifetime: Lifetime): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, operation]) => {
      return [name, bindOperation(name as OperationName, operation, { engine, lifetime })];
    }),
  );
}

/** A closed engine refuses every operation; `close()` waits for running ones. */
function bindOperation(
  name: OperationName,
  operation: AnyOperation,
  { engine, lifetime }: { readonly engine: Engine; readonly lifetime: Lifetime },
): AnyMethod {
  const ref = READ_REFERENCES[name];
  return (...input) =>
    lifetime.track(async () => {
      if (ref || input.length > 1) assertArguments(name, ref, input);
      return operation(engine, ...input);
    });
}

/** The actor of changes: a name, and the API token if the actor uses one. */
export interface ActorIdentity {
  /** Not validated yet: the first change validates it. */
  readonly name: unknown;
  readonly token?: Pick<Token, 'id' | 'kind'>;
  readonly authorize?: AuthorizeChanges | undefined;
}

/** Converts an actor's name or an API token to an identity. */
export function toIdentity(...[actor, options]: Parameters<Flags['as']>): ActorIdentity {
  const authorize = options === undefined ? undefined : readAuthorize(options);
  if (typeof actor !== 'object' || actor === null) return { name: actor, authorize };
  const { name, id, kind } = actor;
  return typeof id === 'string' && typeof kind === 'string'
    ? { name, token: { id, kind }, authorize }
    : { name, authorize };
}

function readAuthorize(options: ActorOptions): AuthorizeChanges | undefined {
  assertOptions('as', options);
  const { authorize } = options;
  if (authorize === undefined || typeof authorize === 'function') return authorize;
  throw invalidInput([{ message: 'must be a function', path: '/authorize' }]);
}

/** Adds the engine's actor and its check to the context of a change set, unless the context has its own. */
export function attribute(
  context: UnattributedContext | undefined,
  { name, token, authorize }: ActorIdentity,
): SetContext {
  const actor: unknown = context?.actor ?? name;
  const actorToken = context?.actor === undefined ? token : undefined;
  if (typeof actor !== 'string' || actor === '') {
    throw invalidInput([{ message: 'the actor must be a text that is not empty', path: '' }]);
  }
  const attributed = { authorize, actor, ...(actorToken && { actorToken }) };
  return context ? { ...attributed, ...context, actor } : attributed;
}

/** Tracks the running operations, and whether the engine is open. */
export interface Lifetime {
  /** Aborts as soon as `end` is called. */
  readonly closing: AbortSignal;
  /** Runs an operation unless the engine is closed. The operation must be async: it must not throw before it returns. */
  track<T>(operation: () => Promise<T>): Promise<T>;
  /** Throws `closed` if the engine is closed. */
  assertOpen(): void;
  /** Refuses new operations, waits for running ones, then calls `release`. Later calls return the first promise. */
  end(release: () => Promise<void>): Promise<void>;
}

export function createLifetime(): Lifetime {
  const closing = new AbortController();
  let running = 0;
  let whenIdle: () => void = () => undefined;
  let ending: Promise<void> | undefined;

  function assertOpen(): void {
    if (ending) throw closedError();
  }

  function leave(): void {
    running -= 1;
    if (running === 0) whenIdle();
  }

  return {
    closing: closing.signal,
    assertOpen,
    track(operation) {
      if (ending) return Promise.reject(closedError());
      running += 1;
      const result = operation();
      void result.then(leave, leave);
      return result;
    },
    end(release) {
      if (ending) return ending;
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      ending = idle.then(release);
      if (running === 0) whenIdle();
      closing.abort();
      return ending;
    },
  };
}

function closedError(): FlagsError {
  return new FlagsError('closed', 'This instance is closed; create another one.');
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { EvaluationOperations } from '../evaluation/evaluation.types.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { DocumentCache } from '../replica/document-cache.js';
import type { Replica } from '../replica/replica.js';
import { acceptDeclaredProperties } from '../schema/define-flags.js';
import type { FlagsSchema } from '../schema/schema.types.js';
import { memoryStorage } from '../storage/memory/storage.js';
import type { DocumentWrite, Storage } from '../storage/port.js';
import type { TestFlags, TestFlagsOptions, TestValues } from './test-flags.types.js';
import { forceValue } from './test-values.js';

/** The overrides of the running asynchronous context. */
const running = new AsyncLocalStorage<ReadonlyMap<object, TestValues>>();

/** Values of flags that hold within functions. */
export interface Overrides {
  readonly run: <Result>(values: TestValues, body: () => Result) => Result;
  /** Returns the snapshot with the overridden flags. */
  readonly apply: (snapshot: Snapshot) => Snapshot;
}

export function createOverrides(): Overrides {
  const key = {};
  const compiled = new WeakMap<Snapshot, WeakMap<TestValues, Snapshot>>();

  function compile(snapshot: Snapshot, values: TestValues): Snapshot {
    const flags = Object.entries(values).flatMap(([name, value]) => {
      const definition = snapshot.definition(name);
      return definition ? [forceValue(definition, value)] : [];
    });
    return snapshot.with({ flags });
  }

  return {
    run(values, body) {
      const outer = running.getStore();
      return running.run(new Map([...(outer ?? []), [key, { ...outer?.get(key), ...values }]]), body);
    },
    apply(snapshot) {
      const values = running.getStore()?.get(key);
      if (values === undefined) return snapshot;
      const known = compiled.get(snapshot) ?? new WeakMap<TestValues, Snapshot>();
      compiled.set(snapshot, known);
      const forced = known.get(values) ?? compile(snapshot, values);
      known.set(values, forced);
      return forced;
    },
  };
}

/** Returns a replica whose snapshots have the overridden flags. */
export function withOverrides(replica: Replica, { apply }: Overrides): Replica {
  const { standard, snapshotOf } = replica.state;
  const state = {
    ...replica.state,
    standard: {
      ...standard,
      get snapshot() {
        return apply(standard.snapshot);
      },
    },
    snapshotOf: (environment: string) => {
      const snapshot = snapshotOf(environment);
      return snapshot && apply(snapshot);
    },
  };
  return { ...replica, state };
}

/** The state of flags of a test: the commits that led to it, as JSON. */
export interface Origin {
  readonly options: TestFlagsOptions;
  readonly commits: readonly string[];
  readonly ids: { last: number };
}

/** A memory storage that remembers its commits. */
export function recordingStorage(earlier: readonly string[]) {
  const storage = memoryStorage();
  // The memory storage commits synchronously, and these commits have succeeded before.
  for (const commit of earlier) void storage.commit(JSON.parse(commit));
  const commits = [...earlier];
  const recording: Storage = {
    ...storage,
    async commit(commit) {
      const text = JSON.stringify(commit);
      const result = await storage.commit(commit);
      if (result.ok) commits.push(text);
      return result;
    },
  };
  return { storage: recording, commits };
}

/** Reads the documents of evaluation from commits, because reads of a storage are asynchronous. */
export function loadCommits(documents: DocumentCache, commits: readonly string[]): void {
  const known = new Map<string, { readonly revision: number; readonly body: unknown }>();
  for (const text of commits) {
    const { writes } = JSON.parse(text) as { readonly writes: readonly DocumentWrite[] };
    for (const write of writes) {
      const name = `${write.key.kind} ${write.key.id}`;
      const before = known.get(name);
      const revision = (before?.revision ?? 0) + 1;
      const body = 'touch' in write ? before?.body : 'body' in write ? write.body : undefined;
      known.set(name, { revision, body });
      documents.applyUpdate(write.key, revision, body);
    }
  }
}

/** Evaluates the snapshot of the origin until another member is used. Then opens the engine. */
export function lazyFork(openEngine: () => TestFlags, snapshot: Snapshot, { schema }: TestFlagsOptions): TestFlags {
  let opened: TestFlags | undefined;
  const open = (): TestFlags => {
    opened ??= openEngine();
    return opened;
  };
  const isReady = (flag: string, options: unknown) =>
    opened === undefined && options === undefined && running.getStore() === undefined && snapshot.definition(flag);
  const quick: Evaluation = {
    isEnabled(flag, context, options) {
      if (!isReady(flag, options)) return open().isEnabled(flag, context, options);
      return snapshot.evaluate(flag, context)?.enabled ?? false;
    },
    getVariant(flag, context, options) {
      const found = isReady(flag, options) ? snapshot.evaluate(flag, context) : undefined;
      return found?.variant ?? open().getVariant(flag, context, options);
    },
  };
  return new Proxy((schema ? acceptProperties(quick, schema) : quick) as TestFlags, {
    get: (target, name) => {
      // A promise that resolves to flags asks for `then`.
      if (name === 'then') return undefined;
      if (name in target && opened === undefined) return Reflect.get(target, name);
      return Reflect.get(open(), name);
    },
    has: (_target, name) => name in open(),
    ownKeys: () => Reflect.ownKeys(open()),
    getOwnPropertyDescriptor: (_target, name) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(open(), name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}

type Evaluation = Pick<EvaluationOperations, 'isEnabled' | 'getVariant'>;

function acceptProperties(quick: Evaluation, schema: FlagsSchema): Evaluation {
  const { isEnabled, getVariant } = acceptDeclaredProperties(quick as EvaluationOperations, schema);
  return { isEnabled, getVariant };
}

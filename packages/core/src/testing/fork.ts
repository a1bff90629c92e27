import type { EvaluationContext, EvaluationOperations } from '../evaluation/evaluation.types.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { DocumentCache } from '../kernel/replica/document-cache.js';
import { createDocumentMap } from '../storage/commit.js';
import { memoryStorage } from '../storage/memory/storage.js';
import type { Commit, FlagsStorage } from '../storage/port.js';
import { createPropertyLift } from '../typed-flags/define-flags.js';
import type { TestFlags, TestFlagsOptions } from './test-flags.types.js';
import { running } from './test-values.js';

/** The state of test flags: the commits that created it, as JSON. */
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
  const recording: FlagsStorage = {
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

/** Loads the documents that commits have written, without `list`, which is asynchronous. */
export function loadCommits(documents: DocumentCache, commits: readonly string[]): void {
  const revisions = createDocumentMap<number>();
  const bodies = createDocumentMap<unknown>();
  for (const text of commits) {
    const { writes } = JSON.parse(text) as Commit;
    for (const write of writes) {
      // As in the storage: each write of a document gives it the next revision.
      const revision = (revisions.get(write.key) ?? 0) + 1;
      revisions.set(write.key, revision);
      if (!('touch' in write)) bodies.set(write.key, 'body' in write ? write.body : undefined);
      documents.applyUpdate(write.key, revision, bodies.get(write.key));
    }
  }
}

/** Evaluates the snapshot of the origin. Opens the engine when another member is used. */
export function lazyFork(openEngine: () => TestFlags, snapshot: Snapshot, { schema }: TestFlagsOptions): TestFlags {
  let opened: TestFlags | undefined;
  const open = (): TestFlags => {
    opened ??= openEngine();
    return opened;
  };
  const isReady = (flag: string, options: unknown) =>
    opened === undefined && options === undefined && running.getStore() === undefined && snapshot.definition(flag);
  const lift = (schema && createPropertyLift(schema)) ?? ((context?: EvaluationContext) => context);
  const quick: Pick<EvaluationOperations, 'isEnabled' | 'getVariant'> = {
    isEnabled(flag, context, options) {
      if (!isReady(flag, options)) return open().isEnabled(flag, context, options);
      return snapshot.evaluate(flag, lift(context))?.enabled ?? false;
    },
    getVariant(flag, context, options) {
      const found = isReady(flag, options) ? snapshot.evaluate(flag, lift(context)) : undefined;
      return found?.variant ?? open().getVariant(flag, context, options);
    },
  };
  return new Proxy(quick as TestFlags, {
    get: (target, name) => {
      // `await` reads `then`. It must not open the engine.
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

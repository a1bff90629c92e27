import { FlagsError } from '../errors.js';
import type { Registry } from '../kernel/registry.js';
import { nameOf } from '../storage/documents.js';
import type { DocumentKey, FlagsStorage } from '../storage/port.js';
import { type DocumentChange, isNeverRefused } from './unit-of-work.js';

interface Size {
  readonly bytes: number;
  readonly revision: number;
}

/**
 * Tracks and limits the total size of all flags (archived ones too), segments and projects. It counts the commits of
 * this process, and those of other processes as polls find them. Several nodes can therefore exceed the limit by their
 * commits between two polls.
 */
export class StateSize {
  private readonly sizes = new Map<string, Size>();
  private total = 0;
  private reserved = 0;

  /** The document kinds that count towards the state size. */
  private readonly kinds: readonly string[];

  constructor(
    private readonly limit: number,
    private readonly registry: Registry,
  ) {
    this.kinds = registry.kindsWithHistory.map(({ documents }) => documents.kind);
  }

  /** Counts the stored documents, and discards earlier counts. */
  async load(storage: Pick<FlagsStorage, 'list'>): Promise<void> {
    this.sizes.clear();
    this.total = 0;
    for (const kind of this.kinds) {
      for (const { key, revision, content } of await storage.list({ kind, part: 'body' })) {
        this.applyUpdate(key, { revision, state: content });
      }
    }
  }

  /**
   * Reserves space for a pending commit, so that concurrent commits do not exceed the limit together.
   *
   * @returns a function that releases the space
   * @throws FlagsError `state_too_large`
   */
  reserve(changes: readonly DocumentChange[]): () => void {
    const growth = this.growthBy(changes);
    if (growth <= 0) return () => undefined;
    const bytes = this.total + this.reserved + growth;
    if (
      bytes > this.limit &&
      !isNeverRefused(
        this.registry,
        changes.flatMap(({ events }) => events),
      )
    ) {
      const message = `All flags, segments and projects together would take ${bytes} bytes, but stateLimit is ${this.limit}; delete unused ones, including archived flags.`;
      throw new FlagsError('state_too_large', message);
    }
    this.reserved += growth;
    return () => {
      this.reserved -= growth;
    };
  }

  /** Counts a commit of this process. */
  record(changes: readonly DocumentChange[], revisions: readonly number[]): void {
    for (const [index, { write, bytes }] of changes.entries()) {
      const size = 'touch' in write ? this.bytesOf(write.key) : bytes;
      this.set(write.key, { bytes: size, revision: revisions[index] ?? 0 });
    }
  }

  /** Counts a document that another process has committed. */
  applyUpdate(key: DocumentKey, { revision, state }: { readonly revision: number; readonly state: unknown }): void {
    const bytes = state === undefined ? 0 : Buffer.byteLength(JSON.stringify(state));
    this.set(key, { bytes, revision });
  }

  /** Whether this revision of a document is newer than the counted one. */
  isNewer(key: DocumentKey, revision: number): boolean {
    return this.kinds.includes(key.kind) && revision > (this.sizes.get(nameOf(key))?.revision ?? 0);
  }

  private growthBy(changes: readonly DocumentChange[]): number {
    const definitions = changes.filter(({ write }) => !('touch' in write) && this.kinds.includes(write.key.kind));
    return definitions.reduce((sum, { write, bytes }) => sum + bytes - this.bytesOf(write.key), 0);
  }

  private set(key: DocumentKey, size: Size): void {
    if (!this.isNewer(key, size.revision)) return;
    this.total += size.bytes - this.bytesOf(key);
    this.sizes.set(nameOf(key), size);
  }

  private bytesOf(key: DocumentKey): number {
    return this.sizes.get(nameOf(key))?.bytes ?? 0;
  }
}

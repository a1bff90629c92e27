import type { Awaitable } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import type { KeyedUpdate } from '../storage/document-reader.js';
import type { PreparedChange } from './change.js';
import { type EventDescription, memberParts } from './kind.js';
import type { FeatureKind, KindsInProjects, Restorer } from './restorer.js';

type AnyKind = FeatureKind<unknown, DomainEvent>;

/** A kind that history shows and undo restores. */
export interface KindWithHistory extends AnyKind {
  readonly restorer: Restorer<unknown>;
}

/** Looks up the kinds and the events of all features. */
export interface Registry extends KindsInProjects {
  /** All kinds: first those with a history, in the order in which a restoration creates them. */
  readonly kinds: readonly AnyKind[];
  /** The kinds that history shows and undo restores, in the order in which a restoration creates them. */
  readonly kindsWithHistory: readonly KindWithHistory[];
  /** The kinds that the replica keeps in memory. */
  readonly kindsInMemory: readonly string[];
  readonly eventTypes: readonly string[];
  /** Returns the description of a type of event. A later release may have stored an event that this one does not know. */
  describeEvent(type: string): EventDescription<DomainEvent>;
  /** Whether the data of an event is the whole document, or ends it. */
  holdsDocument(type: string): boolean;
  /** Returns the description of a kind; undefined for index documents, which have no events. */
  kindOf(name: string): AnyKind['documents'] | undefined;
  /** Returns the restorer of a kind; undefined for a kind without history. */
  restorerOf(kind: string): AnyKind['restorer'];
  hasHistory(key: { readonly kind: string }): boolean;
  /** Applies stored events to the state of a document. */
  foldEvents(kind: string, state: unknown, events: readonly { readonly type: string }[]): unknown;
  /** Lets the features load what they need for documents that are about to be in memory; see `Feature`. */
  prepareDocuments(updates: Iterable<KeyedUpdate>): Promise<unknown> | undefined;
}

/** What the kernel knows of an operation that changes documents. */
export interface ListedOperation {
  /** The members of its reference. */
  readonly ref: readonly string[];
  /** The name of the schema of its input. */
  readonly input?: string;
  readonly isInputOptional?: true;
  readonly isInSets: boolean;
  readonly isInRequests?: true | 'alone';
  readonly prepare: (engine: never, ref: never, input: never) => Awaitable<PreparedChange>;
}

/** Looks up the operations of all features. */
export interface OperationRegistry {
  readonly find: (name: string) => ListedOperation | undefined;
  /** The names of the operations that a change set may contain. */
  readonly inSets: readonly string[];
  /** The names of the operations that a change request may contain. */
  readonly inRequests: readonly string[];
}

const UNKNOWN_EVENT: EventDescription<DomainEvent> = { parts: memberParts };

/**
 * Creates the registry of a list of features, the lowest first. A restoration begins with the highest: flags, which know
 * segments and projects only as references, come after these.
 */
export function createRegistry(
  features: readonly {
    readonly name: string;
    readonly kinds?: readonly unknown[];
    readonly prepareDocuments?: Registry['prepareDocuments'];
  }[],
): Registry {
  const listed = features.flatMap(({ kinds = [] }) => kinds as readonly AnyKind[]);
  const kindsWithHistory = listed.filter((kind): kind is KindWithHistory => kind.restorer !== undefined).reverse();
  const kinds = [...kindsWithHistory, ...listed.filter(({ restorer }) => restorer === undefined)];
  const byName: ReadonlyMap<string, AnyKind> = new Map(kinds.map((kind) => [kind.documents.kind, kind]));
  const events: ReadonlyMap<string, EventDescription<DomainEvent>> = new Map(
    kinds.flatMap(({ documents }) => Object.entries(documents.events)),
  );
  const describeEvent: Registry['describeEvent'] = (type) => events.get(type) ?? UNKNOWN_EVENT;
  return {
    kinds,
    kindsWithHistory,
    kindsInMemory: namesOf(kinds.filter(({ documents }) => documents.isInMemory)),
    // Sorted, because a refusal names the first kind that has documents.
    kindsInProjects: namesOf(kinds.filter(({ documents }) => documents.isInProjects)).sort(),
    eventTypes: [...events.keys()],
    describeEvent,
    holdsDocument: (type) => describeEvent(type).isWhole === true,
    kindOf: (name) => byName.get(name)?.documents,
    restorerOf: (kind) => byName.get(kind)?.restorer,
    hasHistory: ({ kind }) => byName.get(kind)?.restorer !== undefined,
    foldEvents(kind, state, stored) {
      const evolve = byName.get(kind)?.documents.evolve;
      // The cast is safe: every stored event is the result of a decision.
      return stored.reduce<unknown>((folded, event) => evolve?.(folded, event as DomainEvent), state);
    },
    prepareDocuments(updates) {
      const preparations = features.flatMap(({ prepareDocuments }) => prepareDocuments?.(updates) ?? []);
      return preparations.length > 0 ? Promise.all(preparations) : undefined;
    },
  };
}

function namesOf(kinds: readonly AnyKind[]): string[] {
  return kinds.map(({ documents }) => documents.kind);
}

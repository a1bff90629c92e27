import type { Input } from '../base/inputs.js';
import type { KeyedUpdate } from '../storage/document-reader.js';
import type { DocumentKey } from '../storage/port.js';
import type { ChangeEngine, Rules, SharedEngine } from './changes/change-engine.js';
import type { AnyRow } from './changes/run-operation.js';
import type { DueSource } from './due/source.js';
import type { PreparedChange } from './engine.js';
import type { ActionOf } from './kind.js';

/*
 * What a feature gives to the kernel: one value in its folder, `feature.ts`. The kernel imports none of them. It gets their
 * list once, from `features.ts`.
 */

/**
 * A part of the product.
 *
 * @typeParam Engine the engine with the parts of all features
 * @typeParam Options the options of the host
 */
export interface Feature<Engine extends SharedEngine, Options> {
  /** The name of its folder. */
  readonly name: string;
  /** Its documents that events change, each by `describeKind`. */
  readonly kinds?: readonly unknown[];
  /** The inputs of its operations, by the names that their rows have. */
  readonly inputs?: Readonly<Record<string, Input<never>>>;
  /** The rows of its operations, reads too. */
  readonly operations: Readonly<
    Record<string, AnyRow<Engine & ChangeEngine> & { readonly input?: keyof Engine['validate'] }>
  >;
  /**
   * Opens its parts when an engine starts: synchronously, after the features before it. The documents are in memory. The
   * parts of later features are on the engine once it has started.
   */
  readonly open?: (engine: Engine, options: Options) => OpenedFeature<object>;
  /**
   * Loads what it needs before documents are in memory, also when they come from another process. Returns undefined if there
   * is nothing to wait for: then they are in memory in the same turn.
   */
  readonly prepareDocuments?: (updates: Iterable<KeyedUpdate>) => Promise<unknown> | undefined;
  /** Returns the changes that create its first documents in a new storage. They do nothing if the documents exist. */
  readonly seed?: (engine: Engine) => readonly PreparedChange[];
}

/** What a feature adds to an engine. */
export interface OpenedFeature<Parts> {
  /** The members that it adds to the engine, for its operations and for later features. */
  readonly parts?: Parts;
  /** Asked and told by the writer. */
  readonly rules?: Rules;
  /** Told by the replica which documents in memory have changed. Synchronous. */
  readonly onDocuments?: (changed: readonly DocumentKey[]) => void;
  /** Asked by the runner of what is due. */
  readonly due?: DueSource;
  /** Ends what it has started. Called before the storage is closed. */
  readonly close?: () => Promise<unknown>;
}

type ListOf = readonly unknown[];

/** The members that a list of features adds to the engine. */
export type PartsOf<Features extends ListOf> = Features extends readonly [infer First, ...infer Rest]
  ? PartsOfOne<First> & PartsOf<Rest>
  : unknown;

type PartsOfOne<Given> = Given extends { readonly open: (...given: never[]) => OpenedFeature<infer Parts> }
  ? Parts
  : unknown;

/** The operations of a list of features. */
export type OperationsOf<Features extends ListOf> = Features extends readonly [
  { readonly operations: infer Operations },
  ...infer Rest,
]
  ? Operations & OperationsOf<Rest>
  : unknown;

/** The inputs of the operations of a list of features. */
export type InputsOf<Features extends ListOf> = Features extends readonly [infer First, ...infer Rest]
  ? (First extends { readonly inputs: infer Inputs } ? Inputs : unknown) & InputsOf<Rest>
  : unknown;

/** The descriptions of the events of a feature. */
type EventsOf<Given> = Given extends { readonly kinds: readonly (infer Listed)[] } ? EventsOfKind<Listed> : never;

type EventsOfKind<Listed> = Listed extends { readonly documents: { readonly events: infer Events } } ? Events : never;

type KeyOf<Events> = Events extends unknown ? keyof Events : never;

/** The types of the events of a feature. */
export type EventTypeOf<Given> = KeyOf<EventsOf<Given>>;

/** The operations whose permission the events of a feature need. */
export type EventActionOf<Given> = ActionOf<EventsOf<Given>>;

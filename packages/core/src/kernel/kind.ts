import type { DomainEvent } from '../base/domain-event.js';
import { isObject } from '../base/json.js';
import { memberOf, mergeStates } from '../base/parts.js';
import type { Aggregate, RecordedDocuments } from '../storage/document-reader.js';

/*
 * A kind of document is described once, in its `*.kind.ts`: how events become its state, and what each of its events is
 * about, needs and may do. Its `*.restorer.ts` says how it is restored and merged. Everything else looks up.
 */

/** A part of a document that an event changes. */
export interface ChangedPart {
  /** The names of the members, items and keys that lead to the part. */
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** The description of one type of event. */
export interface EventDescription<Event, Action extends string = string> {
  /** Returns the parts of the document that the event changes, with their values before and after. */
  readonly parts: (event: Event) => readonly ChangedPart[];
  /** The operation whose permission the event needs in an undo or an import. Absent: it needs none. */
  readonly action?: Action;
  /** Shrinks the document, or adds a few bytes only. Size limits do not apply to it. */
  readonly shrinks?: true;
  /** An undo does not restore such an event. The text says what it is about, and what to do instead. */
  readonly cannotUndo?: string;
  /** Whether the event may add or remove a reference to another document. Default: no event does. */
  readonly refers?: (event: Event) => boolean;
  /** May move the document to another project. `data` and `before` name the projects. */
  readonly moves?: true;
  /** May be about several projects. `data.projects` names them, and `project` is null then. */
  readonly spans?: true;
  /** `data` is the whole document, or the event ends it. */
  readonly isWhole?: true;
  /** Removes from its `data` and `before` what events do not show, such as a secret's hash. */
  readonly show?: (state: unknown) => unknown;
  /** Ends the document, and with it the usage that was recorded under its name. */
  readonly endsUsage?: true;
  /** Shows who has access. Histories show it to callers who may read the event log. */
  readonly isAboutAccess?: true;
}

type EventOfType<Event, Type> = Event extends { readonly type: infer Types }
  ? Type extends Types
    ? Event
    : never
  : never;

/** The description of every type of event of a kind. */
export type EventDescriptions<Event extends DomainEvent, Action extends string = string> = {
  readonly [Type in Event['type']]: EventDescription<EventOfType<Event, Type>, Action>;
};

/** Returns a function that keeps the names of the actions in the type of the descriptions. */
export function describeEvents<Event extends DomainEvent>() {
  return <const Action extends string>(events: EventDescriptions<Event, Action>) => events;
}

/** The actions that described events need. */
export type ActionOf<Events> = Events extends EventDescriptions<infer _Event, infer Action> ? Action : never;

/** The states of a document around a change set, and the current one. Undefined: no document. */
export interface Versions<State> {
  readonly before: State | undefined;
  readonly after: State | undefined;
  readonly now: State | undefined;
}

/** The state without a change set, with all later changes of other parts. */
export interface MergedVersions<State> {
  readonly target: State | undefined;
  /** JSON Pointers to the parts that the set changed, and that have changed again since. Empty text: the document. */
  readonly conflicts: readonly string[];
  /** What to do instead, if there are conflicts. Default: undo the later sets first. */
  readonly advice?: string;
}

/** A kind of document whose events do not tell all of it: changes write both. */
export interface RecordedKind<State, Event extends DomainEvent, Action extends string = string>
  extends RecordedDocuments<State> {
  readonly events: EventDescriptions<Event, Action>;
  /** How to make a document smaller, for refusals. */
  readonly smaller: string;
  /** For a kind without history: the refusal of an undo, which says what to do instead. */
  readonly cannotUndo?: string;
  /** Their parent may be a project, which is deleted with them. */
  readonly isInProjects: boolean;
  /** The replica keeps these documents in memory, for evaluation. */
  readonly isInMemory?: true;
  /** Their ids are names of flags: the events name them as their `flag`. */
  readonly isFlag?: true;
  /** Removes from a state what plans do not show. */
  readonly show?: (state: unknown) => unknown;
}

/** A kind of document that events change. */
export interface Kind<State, Event extends DomainEvent, Action extends string = string>
  extends RecordedKind<State, Event, Action>,
    Aggregate<State, Event> {}

/** A part that is added, replaced or removed as a whole. */
export function wholePart(
  path: readonly string[],
  { data, before }: Pick<DomainEvent, 'data' | 'before'>,
): ChangedPart {
  return { path, before: before ?? null, after: data ?? null };
}

/** The members of `data` and `before`, each as a part. */
export function memberParts(
  { data, before }: Pick<DomainEvent, 'data' | 'before'>,
  isPart: (name: string) => boolean = () => true,
): readonly ChangedPart[] {
  const [to, from] = [isObject(data) ? data : {}, isObject(before) ? before : {}];
  const names = Object.keys({ ...from, ...to }).filter(isPart);
  return names.map((name) => ({ path: [name], before: memberOf(from, name), after: memberOf(to, name) }));
}

/**
 * Merges versions by their parts. A document that was deleted and created again is merged as a whole.
 *
 * @param isWhole whether an undo restores the part at a JSON Pointer as a whole
 */
export function mergeVersions<State extends { readonly createdAt: string }>(
  { before, after, now }: Versions<State>,
  isWhole: (path: string) => boolean,
): MergedVersions<State> {
  const isOne = new Set([before, after, now].map((version) => version?.createdAt)).size === 1;
  const { result, conflicts, agreed, reordered } = mergeStates(
    { base: after, theirs: now, mine: before },
    { isWhole: (path) => !isOne || isWhole(path) },
  );
  // A later change to the earlier value is a conflict too.
  return { target: result, conflicts: [...conflicts.map(({ path }) => path), ...agreed, ...reordered] };
}

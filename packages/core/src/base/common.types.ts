/** Names a project by its id. */
export interface ProjectRef {
  readonly project: string;
}

/** Names a flag. The flag must belong to the project. */
export interface FlagRef extends ProjectRef {
  readonly flag: string;
}

/** Names a flag of any project, or of the given one. */
export interface AnyFlagRef extends Partial<ProjectRef> {
  readonly flag: string;
}

/** Names one flag's configuration in one environment. */
export interface EnvironmentRef extends FlagRef {
  readonly environment: string;
}

/** Names one strategy, by its id, in one environment of a flag. */
export interface StrategyRef extends EnvironmentRef {
  readonly strategy: string;
}

/** Names a change set by its id, as in `event.changeSet`. */
export interface ChangeSetRef {
  readonly changeSet: string;
}

/** Names an application that reports metrics. */
export interface ApplicationRef {
  readonly application: string;
}

/** Names a consumer of events. */
export interface ConsumerRef {
  readonly consumer: string;
}

/**
 * The id, the actor, the reason and the expected revision of a change. The last parameter of every operation that changes
 * state.
 */
export interface ChangeContext {
  /**
   * The id of the change set, a UUID, which makes the call safe to repeat: with the same id, actor, reference and input,
   * it returns the result of the first call and changes nothing, on every node, whatever has changed since. Repeat a
   * call with the same id after `outcome_unknown`. Another actor or input is refused with `id_taken`. A call that
   * changed nothing is not remembered. Default: a new UUID.
   */
  readonly id?: string;
  /** The actor that the event log records. Default: the instance's default actor. */
  readonly actor?: string;
  /** Why: at most 1,000 characters. The event log and the history show it. */
  readonly reason?: string;
  /**
   * Why the change does not wait for the approval that it needs: a text, not empty. The events of the change then have the
   * origin `bypass`, and this reason after the one of the change. Without effect on a change that needs no approval. API
   * tokens cannot bypass.
   */
  readonly bypassApproval?: string;
  /**
   * The revision of the document (flag, project, segment) that the caller has read, or several acceptable revisions,
   * like `If-Match`. If the document has another revision or does not exist yet, the operation fails with
   * `revision_mismatch` and changes nothing.
   */
  readonly ifRevision?: number | readonly number[];
}

/** The context of a change of API tokens. It has no `id`: a secret is shown once. */
export type TokenChangeContext = Omit<ChangeContext, 'id'>;

/** Selects a part of a list. */
export interface PageQuery {
  /** Maximum number of items, 1–1000. Default: everything. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. Default: the start of the list. */
  readonly after?: string | undefined;
}

/**
 * Items of a list, in its order: a page, or everything if the query has no `limit`. Iterating over the pages returns
 * every item that exists throughout the iteration exactly once. The pages together are not a consistent snapshot.
 */
export interface ListPage<Item> {
  /** At most `limit` items; fewer on the last page, or if the items are large. */
  readonly items: readonly Item[];
  /** Pass it as `after` to get the next page; absent at the end of the list. It never expires. */
  readonly next?: string;
}

/** A value or a promise of it, so that storages can be synchronous or asynchronous. */
export type Awaitable<T> = T | PromiseLike<T>;

/** `admin` is for administration, `client` for server-side SDKs, `frontend` for browsers. */
export const TOKEN_KINDS = ['admin', 'client', 'frontend'] as const;
/** One of {@link TOKEN_KINDS}. */
export type TokenKind = (typeof TOKEN_KINDS)[number];

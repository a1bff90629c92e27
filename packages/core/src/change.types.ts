import type { ChangeOperationName, ChangeVocabulary } from './changesets/operations.js';

/**
 * One change as data: an operation, its reference and its input.
 *
 * @typeParam Own the names of strategies that are not built in
 * @example
 * const change: Change = {
 *   op: 'enable',
 *   ref: { project: 'default', flag: 'checkout', environment: 'production' },
 * };
 */
export type Change<Own extends string = never> = {
  readonly [Op in ChangeOperationName]: {
    readonly op: Op;
    /** The revision of the document that the change is about (flag, project, segment), or several acceptable ones. */
    readonly ifRevision?: number | readonly number[];
  } & ChangeVocabulary<Own>[Op];
}[ChangeOperationName];

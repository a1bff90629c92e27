import type { InputOf, RefOf } from '../../kernel/changes/row.js';
import { dependencyOperations } from '../flags/dependencies.operations.js';
import { flagOperations } from '../flags/flag.operations.js';
import { strategyOperations } from '../flags/strategies.operations.js';
import type { EnvironmentInput, StrategyInput, StrategyReplacement } from '../flags/strategy.types.js';
import { memberOperations } from '../projects/members.operations.js';
import { projectOperations } from '../projects/project.operations.js';
import { rolloutOperations } from '../rollouts/rollouts.operations.js';
import { segmentOperations } from '../segments/segment.operations.js';

/** The operations of the features before this one: change sets contain those that say so. */
export const SET_OPERATIONS = {
  ...projectOperations,
  ...memberOperations,
  ...flagOperations,
  ...dependencyOperations,
  ...strategyOperations,
  ...segmentOperations,
  ...rolloutOperations,
};

type Operations = typeof SET_OPERATIONS;

/** The name of an operation that a change set may contain. */
export type ChangeOperationName = {
  [Name in keyof Operations]: Operations[Name] extends { readonly isInSets: true } ? Name : never;
}[keyof Operations];

/** The inputs that name strategies: built-in ones, and the host's own. */
interface StrategyInputs<Own extends string> {
  readonly addStrategy: StrategyInput<Own>;
  readonly updateStrategy: StrategyReplacement<Own>;
  readonly configureEnvironment: EnvironmentInput<Own>;
}

type ChangeInput<Name extends ChangeOperationName, Own extends string> = Name extends keyof StrategyInputs<Own>
  ? StrategyInputs<Own>[Name]
  : InputOf<Operations[Name]>;

/** The reference and the input of every change that a change set may contain, as its method takes them. */
export type ChangeVocabulary<Own extends string = never> = {
  readonly [Name in ChangeOperationName]: (undefined extends RefOf<Operations[Name]>
    ? unknown
    : { readonly ref: RefOf<Operations[Name]> }) &
    (unknown extends InputOf<Operations[Name]>
      ? unknown
      : undefined extends InputOf<Operations[Name]>
        ? { readonly input?: ChangeInput<Name, Own> }
        : { readonly input: ChangeInput<Name, Own> });
};

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

import type { InputOf, RefOf } from '../../kernel/changes/run-operation.js';
import type { flagsFeature } from '../flags/feature.js';
import type { EnvironmentInput, StrategyInput, StrategyReplacement } from '../flags/strategy.types.js';
import type { projectsFeature } from '../projects/feature.js';
import type { rolloutsFeature } from '../rollouts/feature.js';
import type { segmentsFeature } from '../segments/feature.js';

/** The features whose operations change sets may contain. The compiler refuses a list of features that lacks one here. */
type Operations = (typeof projectsFeature)['operations'] &
  (typeof flagsFeature)['operations'] &
  (typeof segmentsFeature)['operations'] &
  (typeof rolloutsFeature)['operations'];

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

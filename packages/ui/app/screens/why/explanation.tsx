import { describeCondition, describeReason, operandOf } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import { useResource } from '../../api/resource.js';
import type {
  ExplainedConstraint,
  ExplainedFlag,
  ExplainedRollout,
  ExplainedStrategy,
  ExplainedVariant,
  Strategy,
} from '../../api/types.js';
import { findSegmentName } from '../../model/describe.js';
import { Link } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { offers } from '../../state/session.js';
import { answer, explainedTitle, variantName } from '../../words.js';

interface ExplanationProps {
  readonly explained: ExplainedFlag;
  readonly environment: string;
  /** The time that is explained, in ISO 8601; undefined for now. */
  readonly asOf: string | undefined;
}

/** The steps of an evaluation in words, in order, up to the deciding one. */
export function Explanation({ explained, environment, asOf }: ExplanationProps) {
  const { project, name, enabled, dependencies, strategies, variantChoice } = explained;
  // Explanations have no titles. Those who may not read the flag see its explanation without them.
  const isAsked = strategies.length > 0 && offers('getFlag', project);
  const request = { params: { project, flag: name }, ...(asOf !== undefined && { query: { asOf } }) };
  const { data } = useResource('getFlag', isAsked ? request : undefined);
  const stored = data?.environments.find((one) => one.name === environment)?.strategies ?? [];
  return (
    <ol class="steps">
      {dependencies.map(({ dependency, holds }) => (
        <Step key={dependency.feature} holds={holds}>
          Depends on <Link to={['projects', project, 'flags', dependency.feature ?? '']}>{dependency.feature}</Link>{' '}
          being {dependency.enabled === false ? 'off' : 'on'}
          {dependency.variants && dependency.variants.length > 0 && ` with ${dependency.variants.join(' or ')}`}
        </Step>
      ))}
      {strategies.length === 0 && explained.reason !== 'dependency' && (
        <Step holds={enabled}>{decisionOf(explained.reason, environment)}</Step>
      )}
      {strategies.map((strategy, index) => (
        <StrategySteps key={index} strategy={strategy} stored={stored[index]} number={index + 1} />
      ))}
      <Step holds={enabled}>
        <strong>
          {name} is {answer(explained)} in {environment}
        </strong>
        {strategies.length > 1 && !enabled && ': no strategy matches'}
        {variantChoice && <p class="muted">{variantText(variantChoice)}</p>}
      </Step>
    </ol>
  );
}

interface StepProps {
  readonly holds: boolean | undefined;
  readonly children: ComponentChildren;
}

/** The result of a step, as an icon and a word. Undefined: the step was skipped. */
function Step({ holds, children }: StepProps) {
  const state = holds === undefined ? 'skipped' : holds ? 'yes' : 'no';
  return (
    <li class={`step ${state}`}>
      <span class="step-mark">
        {holds === undefined ? '–' : <Icon name={holds ? 'check' : 'close'} />}
        <span class="hidden">{state}: </span>
      </span>
      <div>{children}</div>
    </li>
  );
}

function decisionOf(code: string, environment: string): string {
  if (code === 'disabled') return `The flag is disabled in ${environment}: its strategies are not evaluated.`;
  if (code === 'no_strategies')
    return `The flag is enabled in ${environment} and has no strategies: everybody gets it.`;
  return `${describeReason(code).replace(/^./, (letter) => letter.toUpperCase())}.`;
}

interface StrategyStepsProps {
  readonly strategy: ExplainedStrategy;
  readonly stored: Strategy | undefined;
  readonly number: number;
}

function StrategySteps({ strategy, stored, number }: StrategyStepsProps) {
  const { name, holds, disabled, isTooCostly, unknown = [], constraints, rollout, test } = strategy;
  const outcome = disabled
    ? 'is skipped, because it is disabled'
    : isTooCostly
      ? 'is not evaluated, because it costs too much'
      : holds
        ? 'matches'
        : 'does not match';
  return (
    <Step holds={disabled ? undefined : holds}>
      <strong>Strategy {number}</strong>, {[explainedTitle(strategy, stored), ...unknown].join(', ')}, {outcome}
      <ol class="steps">
        {strategy.segments.map((segment) => (
          <Step key={`segment ${segment.id}`} holds={segment.holds}>
            {segment.found ? (
              <>
                In the segment <Link to={['segments', segment.id]}>{findSegmentName(segment.id) ?? segment.id}</Link>
              </>
            ) : (
              `There is no segment ${segment.id}`
            )}
            {segment.constraints && segment.constraints.length > 0 && (
              <ol class="steps">{segment.constraints.map(constraintStep)}</ol>
            )}
          </Step>
        ))}
        {constraints.map(constraintStep)}
        {rollout && <Step holds={rollout.holds}>{rolloutText(rollout)}</Step>}
        {!rollout && test !== undefined && name !== 'default' && unknown.length === 0 && (
          <Step holds={test}>The context {test ? 'is' : 'is not'} in the list of the strategy</Step>
        )}
      </ol>
    </Step>
  );
}

function constraintStep({ constraint, holds, value }: ExplainedConstraint, index: number) {
  const { contextName, operator, values = [] } = constraint;
  // Explanations omit very long lists of values.
  const isCut = values.length === 0 && constraint.value === undefined;
  const isTime = operandOf(operator) === 'moment';
  return (
    <Step key={`${contextName} ${index}`} holds={holds}>
      <b>{contextName}</b> {isCut ? 'is compared with a long list' : describeCondition(constraint)}
      <span class="muted">
        {isTime
          ? ': compared with the time of the evaluation'
          : isCut
            ? ''
            : value === undefined
              ? `: the context has no ${contextName}`
              : ': it is '}
      </span>
      {!isTime && !isCut && value !== undefined && <code>{value}</code>}
    </Step>
  );
}

function rolloutText({ rollout, bucket, id, groupId, random }: ExplainedRollout): string {
  if (bucket === undefined) return `A rollout of ${rollout} % needs an id to hash, and the context has none`;
  const source = random ? 'drawn at random' : `the hash of “${groupId}:${id}”`;
  return bucket <= rollout
    ? `Bucket ${bucket}, ${source}, is within the rollout of ${rollout} %`
    : `Bucket ${bucket}, ${source}, is beyond the rollout of ${rollout} %`;
}

/** Formats a position among the weights in percent, like the weights themselves. */
function share(position = 0, total = 1): string {
  return `${Math.round((position / total) * 1_000) / 10} %`;
}

function variantText({ variant, overridden, bucket, totalWeight, random, groupId, id }: ExplainedVariant): string {
  const name = variantName(variant);
  if (name === undefined) return 'No variant: the weights add up to 0.';
  if (overridden) return `Variant ${name}: an override names this context.`;
  const source = random ? 'drawn at random' : `the hash of “${groupId}:${id}”`;
  return `Variant ${name}: at ${share(bucket, totalWeight)} of the weights, ${source}.`;
}

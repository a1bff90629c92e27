import { describeInput, describeObject } from '../../base/inputs.js';
import type { Engine } from '../../kernel/engine.js';
import type { OpenedFeature } from '../../kernel/feature.js';
import { describeKind } from '../../kernel/restorer.js';
import { dependencyOperations } from './dependencies.operations.js';
import { flagDocuments } from './flag.kind.js';
import { flagOperations } from './flag.operations.js';
import { flagRestorer } from './flag.restorer.js';
import {
  clone,
  dependency,
  findDependencyIssues,
  findLabelIssues,
  flagChanges,
  flagQuery,
  labelChanges,
  move,
  newFlag,
  parent,
} from './flag.schema.js';
import { LiveChildren } from './live-children.js';
import { strategyOperations } from './strategies.operations.js';
import {
  constraint,
  environment,
  findEnvironmentIssues,
  findRepeatedIds,
  findStrategyIssues,
  strategy,
  strategyOrder,
  strategyReplacement,
} from './strategies.schema.js';
import type { StrategyPlace } from './strategy.types.js';
import type { VariantInput } from './variant.types.js';
import { findVariantsIssues, variant, variants } from './variants.schema.js';

function open({ memory }: Engine): OpenedFeature<{ readonly children: LiveChildren }> {
  const children = new LiveChildren(memory.statesOf(flagDocuments));
  return { parts: { children }, onDocuments: children.follow };
}

export const flagsFeature = {
  name: 'flags',
  kinds: [describeKind(flagDocuments, flagRestorer)],
  inputs: {
    newFlag: describeObject(newFlag, findLabelIssues, { type: 'flagTypes' }),
    flagChanges: describeObject(flagChanges, findLabelIssues, { type: 'flagTypes' }),
    labelChanges: describeObject(labelChanges),
    clone: describeObject(clone),
    move: describeObject(move),
    strategy: describeObject(strategy, findStrategyIssues),
    strategyReplacement: describeObject(strategyReplacement, findStrategyIssues),
    strategyOrder: describeInput<readonly StrategyPlace[]>(strategyOrder, findRepeatedIds),
    environment: describeObject(environment, findEnvironmentIssues),
    constraint: describeObject(constraint),
    variants: describeInput<readonly VariantInput[]>(variants, findVariantsIssues),
    variant: describeObject(variant),
    dependency: describeObject(dependency, findDependencyIssues),
    parent: describeObject(parent),
    flagQuery: describeObject(flagQuery),
  },
  operations: { ...flagOperations, ...dependencyOperations, ...strategyOperations },
  open,
} as const;

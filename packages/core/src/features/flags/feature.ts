import type { Engine } from '../../kernel/engine.js';
import type { Opened } from '../../kernel/feature.js';
import { describeKind } from '../../kernel/restorer.js';
import { dependencyOperations } from './dependencies.operations.js';
import { flagDocuments } from './flag.kind.js';
import { flagOperations } from './flag.operations.js';
import { flagRestorer } from './flag.restorer.js';
import { flagListOperations } from './flag-lists.operations.js';
import { LiveChildren } from './live-children.js';
import { strategyOperations } from './strategies.operations.js';

function open({ memory }: Engine): Opened<{ readonly children: LiveChildren }> {
  const children = new LiveChildren(memory.statesOf(flagDocuments));
  return { parts: { children }, onDocuments: children.follow };
}

export const flagsFeature = {
  name: 'flags',
  kinds: [describeKind(flagDocuments, flagRestorer)],
  operations: { ...flagOperations, ...dependencyOperations, ...strategyOperations, ...flagListOperations },
  open,
} as const;

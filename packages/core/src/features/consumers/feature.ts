import type { Opened } from '../../kernel/feature.js';
import { OwnConsumers } from './consumer-runner.js';
import { consumerOperations } from './consumers.operations.js';

export const consumersFeature = {
  name: 'consumers',
  operations: consumerOperations,
  open: (): Opened<{ readonly consumers: OwnConsumers }> => ({ parts: { consumers: new OwnConsumers() } }),
} as const;

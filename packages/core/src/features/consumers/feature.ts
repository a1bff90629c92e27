import { describeObject } from '../../base/inputs.js';
import type { Opened } from '../../kernel/feature.js';
import { consumerInput, consumerReset } from './consumer.js';
import { OwnConsumers } from './consumer-runner.js';
import { consumerOperations } from './consumers.operations.js';

export const consumersFeature = {
  name: 'consumers',
  inputs: {
    consumer: describeObject(consumerInput),
    consumerReset: describeObject(consumerReset),
  },
  operations: consumerOperations,
  open: (): Opened<{ readonly consumers: OwnConsumers }> => ({ parts: { consumers: new OwnConsumers() } }),
} as const;

import { describeObject } from '../../base/inputs.js';
import type { OpenedFeature } from '../../kernel/feature.js';
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
  open: (): OpenedFeature<{ readonly consumers: OwnConsumers }> => ({ parts: { consumers: new OwnConsumers() } }),
} as const;

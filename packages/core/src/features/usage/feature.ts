import { describeObject } from '../../base/inputs.js';
import type { SharedEngine } from '../../kernel/changes/change-engine.js';
import type { OpenedFeature } from '../../kernel/feature.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { applicationOperations } from './applications.operations.js';
import { reportOperations } from './report.operations.js';
import {
  bulkReport,
  findUsageIssues,
  metricsReport,
  REPORT_CHECKS,
  registration,
  usageFilter,
} from './usage.schema.js';
import { usageOperations } from './usage-over-time.operations.js';
import { createUsageWriter, type UsageWriter } from './usage-writer.js';

/** The options of the host that usage reads. */
export interface RetentionOptions {
  readonly usage: { readonly retention: number };
}

function open(engine: SharedEngine, options: RetentionOptions): OpenedFeature<{ readonly usageWriter: UsageWriter }> {
  const { usage, memory, now, onError } = engine;
  const flags = memory.statesOf(flagDocuments);
  const { retention } = options.usage;
  const usageWriter = createUsageWriter({ usage, isFlag: (name) => flags.has(name), now, retention, onError });
  return { parts: { usageWriter }, rules: { onEnded: usageWriter.forget } };
}

export const usageFeature = {
  name: 'usage',
  inputs: {
    registration: describeObject(registration, REPORT_CHECKS.registration),
    metricsReport: describeObject(metricsReport, REPORT_CHECKS.metricsReport),
    bulkReport: describeObject(bulkReport, REPORT_CHECKS.bulkReport),
    usageFilter: describeObject(usageFilter, findUsageIssues),
  },
  operations: { ...reportOperations, ...usageOperations, ...applicationOperations },
  open,
} as const;

import * as compiled from '../../base/compiled-schemas.js';
import { createValidator } from '../../base/validator.js';
import { REPORT_CHECKS } from './usage.schema.js';
import type { BulkReport, ClientRegistration, MetricsReport } from './usage.types.js';

/** For followers, which validate nothing else: the validators of all inputs would bring every feature into their bundles. */
export function createReportValidators() {
  return {
    registration: createValidator<ClientRegistration>(compiled.registration, REPORT_CHECKS.registration),
    metricsReport: createValidator<MetricsReport>(compiled.metricsReport, REPORT_CHECKS.metricsReport),
    bulkReport: createValidator<BulkReport>(compiled.bulkReport, REPORT_CHECKS.bulkReport),
  } satisfies Readonly<Record<keyof typeof REPORT_CHECKS, unknown>>;
}

import * as compiled from '../../base/compiled-schemas.js';
import { createValidator } from '../../base/validator.js';
import { findBulkIssues, findPeriodIssues, findRegistrationIssues } from './usage.schema.js';
import type { BulkReport, ClientRegistration, MetricsReport } from './usage.types.js';

/** For followers, which validate nothing else: the validators of all inputs would bring every feature into their bundles. */
export function createReportValidators() {
  return {
    registration: createValidator<ClientRegistration>(compiled.registration, findRegistrationIssues),
    metricsReport: createValidator<MetricsReport>(compiled.metricsReport, findPeriodIssues),
    bulkReport: createValidator<BulkReport>(compiled.bulkReport, findBulkIssues),
  };
}

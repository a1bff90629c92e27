import { describeUnknownOption } from '@flags/core/integration/shared';
import { diag, type Meter, type MeterProvider, metrics } from '@opentelemetry/api';

/** The instrumentation scope of all metrics. */
const SCOPE = '@flags/opentelemetry';

/** Returns the meter of a provider. Without one, it is that of the provider that the application has registered. */
export function meterOf(provider: MeterProvider = metrics.getMeterProvider()): Meter {
  return provider.getMeter(SCOPE);
}

/** Runs a call of the metrics library. Its errors go to the logger of OpenTelemetry: telemetry breaks nothing. */
export function attempt(measure: () => void): void {
  try {
    measure();
  } catch (error) {
    reportFailure(error);
  }
}

/** Reports an error to the logger of OpenTelemetry. */
export function reportFailure(error: unknown): void {
  diag.error(`${SCOPE}: a metric was not recorded.`, error);
}

/** Describes why options are not valid; undefined for valid ones. */
export function describeWrongOptions(options: unknown, known: readonly string[]): string | undefined {
  if (typeof options !== 'object' || options === null) return 'needs an object as its options.';
  const unknownOption = describeUnknownOption(options, known);
  if (unknownOption !== undefined) return unknownOption;
  const { meterProvider, isCounted } = options as { readonly meterProvider?: unknown; readonly isCounted?: unknown };
  if (meterProvider !== undefined && !isMeterProvider(meterProvider)) {
    return 'option meterProvider must be a MeterProvider of OpenTelemetry: an object with getMeter.';
  }
  if (isCounted !== undefined && typeof isCounted !== 'function') return 'option isCounted must be a function.';
  return undefined;
}

function isMeterProvider(value: unknown): boolean {
  const { getMeter } = Object(value) as Record<string, unknown>;
  return typeof getMeter === 'function';
}

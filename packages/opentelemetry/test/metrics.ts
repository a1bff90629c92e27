import type { MeterProvider as AnyMeterProvider, Attributes } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

/** Reads metrics when a test asks. */
class ManualReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export interface Point {
  readonly attributes: Attributes;
  readonly value: unknown;
}

export interface Metrics {
  readonly meterProvider: AnyMeterProvider;
  /** Returns the points of a metric, or of all metrics, as name, attributes and value. */
  read(name: string): Promise<readonly Point[]>;
  names(): Promise<readonly string[]>;
}

/** The SDK of OpenTelemetry, which a test reads. */
export function startMetrics(): Metrics {
  const reader = new ManualReader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  async function collect() {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw errors[0];
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  }
  return {
    meterProvider,
    async read(name) {
      const metrics = await collect();
      return metrics
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => ({ attributes, value })));
    },
    names: async () => (await collect()).map(({ descriptor }) => descriptor.name).sort(),
  };
}

/** A provider whose instruments and callbacks throw when they are used. */
export function brokenMetrics(): AnyMeterProvider {
  const fail = () => {
    throw new Error('The meter is broken.');
  };
  const instrument = { add: fail, record: fail, addCallback: fail, removeCallback: fail };
  const meter = new Proxy({}, { get: (_, name) => (String(name).startsWith('create') ? () => instrument : fail) });
  return { getMeter: () => meter } as unknown as AnyMeterProvider;
}

import type { EvaluationContext, TrackingEventDetails } from '@openfeature/server-sdk';

/** Options of `createFlagsProvider`. All have defaults. */
export interface FlagsProviderOptions {
  /**
   * Whether the metadata of an evaluation has the `targetingKey` of its context as `contextId`, for telemetry. It is personal
   * data. Default: false.
   */
  readonly contextId?: boolean;
  /** The environment to evaluate. Default: the environment of the flags. */
  readonly environment?: string;
  /** Receives every event of `client.track`. Default: tracking does nothing. */
  readonly onTrack?: (event: TrackedEvent) => void;
  /**
   * Milliseconds between two checks whether the flags are stale, for the provider's events. 0: no checks. Default: 1000.
   * The timer does not keep the process alive.
   */
  readonly statusInterval?: number;
}

/** A tracking event, such as a purchase or a sign-up. */
export interface TrackedEvent {
  readonly name: string;
  /** The merged context of the SDK. */
  readonly context: EvaluationContext;
  readonly details: TrackingEventDetails;
}

import type { EvaluationContext, TrackingEventDetails } from '@openfeature/server-sdk';

/** What `createFlagsProvider` takes; everything has a default. */
export interface FlagsProviderOptions {
  /** Where flags are evaluated; the default environment of the flags when absent. */
  readonly environment?: string;
  /** Told of everything that `client.track` is called with. Tracking does nothing when absent. */
  readonly onTrack?: (event: TrackedEvent) => void;
  /**
   * How often, in milliseconds, to look whether the flags are stale, for the provider's events; 1000 when absent, 0:
   * never. The timer does not keep the process alive.
   */
  readonly statusInterval?: number;
}

/** Something that an application tracks: a purchase, a sign-up, … */
export interface TrackedEvent {
  readonly name: string;
  /** As merged by the SDK. */
  readonly context: EvaluationContext;
  readonly details: TrackingEventDetails;
}

import { type Flags, FlagsError } from '@flags/core';
import { describeNonFlags, describeUnknownOption } from '@flags/core/integration/shared';
import { OpenFeatureEventEmitter, type Provider, ProviderEvents } from '@openfeature/server-sdk';
import type { FlagsProviderOptions } from './options.js';
import { createResolvers } from './resolvers.js';
import { watchChanges, watchStatus } from './watches.js';

/** The record type requires an entry for every option. */
const OPTIONS: Readonly<Record<keyof FlagsProviderOptions, true>> = {
  contextId: true,
  environment: true,
  onTrack: true,
  statusInterval: true,
};

/**
 * Creates an OpenFeature provider that evaluates flags in this process. A boolean evaluation returns whether the flag is on.
 * Others return the payload of the variant, or the caller's default without a payload. Evaluations count as usage, like
 * `isEnabled` and `getVariant`.
 *
 * The provider emits `PROVIDER_CONFIGURATION_CHANGED` with the names of changed flags, `PROVIDER_STALE` and
 * `PROVIDER_READY`. Closing the provider does not close the flags. Initializing it fails if the environment does not exist,
 * or the flags are closed.
 *
 * @throws TypeError if `flags` is not a `Flags`, for example a promise, or for an unknown option
 * @example
 * const flags = await openFlags({ storage: sqliteStorage('./flags.db') });
 * await OpenFeature.setProviderAndWait(createFlagsProvider(flags));
 * const isOn = await OpenFeature.getClient().getBooleanValue('checkout', false, { targetingKey: '7' });
 */
export function createFlagsProvider(flags: Flags, options: FlagsProviderOptions = {}): Provider {
  const fault = describeNonFlags(flags) ?? describeUnknownOption(options, Object.keys(OPTIONS));
  if (fault) throw new TypeError(`createFlagsProvider ${fault}`);
  const { environment = flags.settings.environment, contextId = false, onTrack, statusInterval = 1000 } = options;
  const events = new OpenFeatureEventEmitter();
  let unsubscribers: readonly (() => void)[] = [];

  function unsubscribeAll(): void {
    for (const unsubscribe of unsubscribers) unsubscribe();
    unsubscribers = [];
  }

  return {
    metadata: { name: 'flags' },
    runsOn: 'server',
    events,

    async initialize() {
      if (flags.closing.aborted) throw new FlagsError('closed', 'This instance is closed; create another one.');
      // Refuses an unknown environment.
      flags.configuration({ environment });
      unsubscribeAll();
      unsubscribers = [
        watchChanges(flags, environment, (flagsChanged) => {
          events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged: [...flagsChanged] });
        }),
        watchStatus(flags, statusInterval, (event, message) => events.emit(event, { message })),
      ];
    },

    async onClose() {
      unsubscribeAll();
    },

    ...createResolvers(flags, { environment, contextId }),
    ...(onTrack && { track: (name, context, details) => onTrack({ name, context, details }) }),
  };
}

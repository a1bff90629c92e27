import type { Flags } from '@flags/core';
import { describeNonFlags, describeUnknownOption } from '@flags/core/integration';
import { OpenFeatureEventEmitter, type Provider, ProviderEvents } from '@openfeature/server-sdk';
import { watchChanges } from './change-watch.js';
import type { FlagsProviderOptions } from './options.js';
import { createResolvers } from './resolvers.js';
import { watchStatus } from './status-watch.js';

/** A record, so that an option that is added to the type alone does not compile. */
const OPTIONS: Readonly<Record<keyof FlagsProviderOptions, true>> = {
  environment: true,
  onTrack: true,
  statusInterval: true,
};

/**
 * Makes an OpenFeature provider that evaluates flags inside this process. Booleans are whether a flag is on; texts,
 * numbers and objects are the payload of the variant that the context gets, and the caller's default where there is none.
 * Evaluations count as usage, as those by `isEnabled` and `getVariant` do.
 *
 * The provider tells of changes (`PROVIDER_CONFIGURATION_CHANGED`, with the names of the flags), and of the flags being
 * stale and current again (`PROVIDER_STALE`, `PROVIDER_READY`). Closing it ends that; the flags stay yours to close.
 * Initializing it fails when the environment does not exist, or the flags are closed.
 *
 * @throws TypeError when `flags` is a promise or something else, or for an unknown option
 * @example
 * const flags = await createFlags({ storage: sqliteStorage('./flags.db') });
 * await OpenFeature.setProviderAndWait(createFlagsProvider(flags));
 * const isOn = await OpenFeature.getClient().getBooleanValue('checkout', false, { targetingKey: '7' });
 */
export function createFlagsProvider(flags: Flags, options: FlagsProviderOptions = {}): Provider {
  const fault = describeNonFlags(flags) ?? describeUnknownOption(options, Object.keys(OPTIONS));
  if (fault) throw new TypeError(`createFlagsProvider ${fault}`);
  const { environment = flags.settings.environment, onTrack, statusInterval = 1000 } = options;
  const events = new OpenFeatureEventEmitter();
  let watches: readonly (() => void)[] = [];

  function endWatches(): void {
    for (const end of watches) end();
    watches = [];
  }

  return {
    metadata: { name: 'flags' },
    runsOn: 'server',
    events,

    async initialize() {
      flags.configuration({ environment });
      endWatches();
      watches = [
        watchChanges(flags, environment, (flagsChanged) => {
          events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged: [...flagsChanged] });
        }),
        watchStatus(flags, statusInterval, (event, message) => events.emit(event, { message })),
      ];
    },

    async onClose() {
      endWatches();
    },

    ...createResolvers(flags, environment),
    ...(onTrack && { track: (name, context, details) => onTrack({ name, context, details }) }),
  };
}

import type { Flags } from '@flags/core';
import { slack, webhook } from '@flags/core/consumers';
import type { ConsumeOptions } from '@flags/core/types';
import { ConfigError, type ConsumersConfig } from './config.js';

/**
 * Starts the configured consumers. `flags.close()` ends them.
 *
 * @throws ConfigError when an address or a secret cannot be used
 */
export async function startConsumers(flags: Flags, config: ConsumersConfig = {}): Promise<void> {
  const options: ConsumeOptions = config.lease === undefined ? {} : { lease: config.lease };
  const { webhook: receiver, slack: address } = config;
  if (receiver) {
    const { url, secrets } = receiver;
    const handler = checked('FLAGS_WEBHOOK_URL, FLAGS_WEBHOOK_SECRET', () => webhook({ url, secret: secrets }));
    await flags.consume('webhook', handler, options);
  }
  if (address) {
    const handler = checked('FLAGS_SLACK_URL', () => slack(address));
    await flags.consume('slack', handler, options);
  }
}

/** The messages do not repeat addresses and secrets. */
function checked<T>(names: string, create: () => T): T {
  try {
    return create();
  } catch (cause) {
    throw new ConfigError(`${names}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

import { openFlags } from '@flags/core';
import { type PostgresStorageSettings, postgresStorage } from '../../../src/index.js';

interface Question {
  readonly id: number;
  readonly method: string;
  readonly input: readonly unknown[];
}

interface NodeOptions extends PostgresStorageSettings {
  readonly connectionString: string;
  readonly pollInterval: number;
}

/** Opens flags with options given as JSON, and runs the calls that it receives. */
async function serve(given: string): Promise<void> {
  const { pollInterval, ...options } = JSON.parse(given) as NodeOptions;
  const onError = () => undefined;
  const flags = await openFlags({ storage: postgresStorage(options), pollInterval, onError, onProblem: onError });
  process.on('message', async ({ id, method, input }: Question) => {
    try {
      const value = await Reflect.apply(Reflect.get(flags, method), flags, input);
      process.send?.({ id, value });
    } catch (error) {
      process.send?.({ id, code: String((error as { readonly code?: unknown }).code ?? error) });
    }
  });
  // The parent process has ended.
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

void serve(process.argv[2] ?? '');

import { type Flags, memoryStorage } from '@flags/core';
import { EventHook } from '@openfeature/open-telemetry-hooks';
import { OpenFeature } from '@openfeature/server-sdk';
import { logs } from '@opentelemetry/api-logs';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { codeBlocks, read } from '../../http/test/docs/documents.js';
import { runProgram } from '../../http/test/docs/run-module.js';
import { DEFAULT, type Host, startHost, stopHosts, switchOn } from './host.js';

const exporter = new InMemoryLogRecordExporter();

beforeAll(() => {
  // The hooks ask the global provider.
  logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [new SimpleLogRecordProcessor(exporter)] }));
});

afterEach(async () => {
  exporter.reset();
  await stopHosts();
});

afterAll(() => logs.disable());

async function hostWithHook(hook: EventHook, provider: { readonly contextId?: boolean } = {}): Promise<Host> {
  const host = await startHost({ provider });
  host.client.addHooks(hook);
  await switchOn(host.flags, {
    name: 'color',
    strategy: { name: 'userWithId', parameters: { userIds: 'ada' } },
    variants: [{ name: 'blue', payload: { type: 'string', value: '#00f' } }],
  });
  return host;
}

/** The events so far, with the attributes of the semantic conventions. */
function events() {
  return exporter.getFinishedLogRecords().map(({ eventName, attributes }) => ({ eventName, attributes }));
}

describe("an event of OpenFeature's hook for OpenTelemetry", () => {
  it('has all attributes of the semantic conventions', async () => {
    const { client } = await hostWithHook(new EventHook());
    const { flagMetadata } = await client.getStringDetails('color', 'none', { targetingKey: 'ada' });
    expect(events()).toEqual([
      {
        eventName: 'feature_flag.evaluation',
        attributes: {
          'feature_flag.key': 'color',
          'feature_flag.provider.name': 'flags',
          'feature_flag.result.reason': 'targeting_match',
          'feature_flag.result.value': '#00f',
          'feature_flag.result.variant': 'blue',
          'feature_flag.set.id': 'default/production',
          'feature_flag.version': expect.stringMatching(/^[0-9a-f]{12}$/),
          // The hook reads the context itself.
          'feature_flag.context.id': 'ada',
        },
      },
    ]);
    expect(events()[0]?.attributes?.['feature_flag.version']).toBe(flagMetadata.version);
    expect(flagMetadata).not.toHaveProperty('contextId');
  });

  it('leaves out the context where the hook excludes it', async () => {
    const { client } = await hostWithHook(new EventHook({ excludeAttributes: ['feature_flag.context.id'] }));
    await client.getBooleanValue('color', false, { targetingKey: 'ada' });
    expect(events()).toHaveLength(1);
    expect(JSON.stringify(events())).not.toContain('ada');
  });

  it('takes its context from the metadata with the option contextId', async () => {
    const { client } = await hostWithHook(new EventHook(), { contextId: true });
    const details = [
      await client.getBooleanDetails('color', false, { targetingKey: 'ada' }),
      await client.getStringDetails('color', 'none', { targetingKey: 'bob' }),
      await client.getStringDetails('unknown', 'none', { targetingKey: 'eve' }),
    ];
    expect(details.map(({ flagMetadata }) => flagMetadata.contextId)).toEqual(['ada', 'bob', 'eve']);
    const evaluations = events().filter(({ eventName }) => eventName === 'feature_flag.evaluation');
    expect(evaluations.map(({ attributes }) => attributes?.['feature_flag.context.id'])).toEqual(['ada', 'bob', 'eve']);
    expect((await client.getBooleanDetails('color', false)).flagMetadata).not.toHaveProperty('contextId');
  });

  it('names the error and the flag set of a value of another type', async () => {
    const { client } = await hostWithHook(new EventHook({ excludeExceptions: true }));
    await client.getNumberValue('color', 7, { targetingKey: 'ada' });
    expect(events()).toMatchObject([
      { attributes: { 'error.type': 'type_mismatch', 'feature_flag.set.id': 'default/production' } },
    ]);
  });

  it('has another version after a change of the flag', async () => {
    const { client, flags } = await hostWithHook(new EventHook());
    const evaluate = () => client.getBooleanValue('color', false, { targetingKey: 'ada' });
    await evaluate();
    await switchOn(flags, { name: 'unrelated' });
    await evaluate();
    await flags.disable({ ...DEFAULT, flag: 'color', environment: 'production' });
    await evaluate();
    const versions = events().map(({ attributes }) => attributes?.['feature_flag.version']);
    expect(versions[1]).toBe(versions[0]);
    expect(versions[2]).not.toBe(versions[0]);
  });
});

describe('the code of the guide', () => {
  it('records events without the context', async () => {
    const code = codeBlocks(read('docs/telemetry.md').split('## Evaluation events')[1] ?? '', 'js').join('\n');
    const scope = {
      require: (name: string) => (name === '@flags/core/sqlite' ? { sqliteStorage: memoryStorage } : require(name)),
    };
    const program = (await runProgram(code, { result: '{ flags }', scope })) as { readonly flags: Flags };
    await switchOn(program.flags, { name: 'checkout' });
    await OpenFeature.getClient().getBooleanValue('checkout', false, { targetingKey: 'ada' });
    expect(events()).toMatchObject([{ attributes: { 'feature_flag.set.id': 'default/production' } }]);
    expect(JSON.stringify(events())).not.toContain('ada');
    OpenFeature.clearHooks();
    await OpenFeature.close();
    await program.flags.close();
  });
});

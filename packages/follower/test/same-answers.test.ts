import type { ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { patterns } from '@flags/core/evaluate/patterns';
import { compileSnapshot } from '@flags/core/integration/follower';
import { resolveSwitch } from '@flags/core/integration/openfeature';
import fc from 'fast-check';
import { extent } from '../../../test/extent.js';
import { until } from '../../../test/until.js';
import {
  arbitraryContext,
  arbitraryFlags,
  arbitrarySegments,
  FLAG_NAMES,
} from '../../core/test/evaluation/arbitrary-documents.js';
import { createDocument } from '../../core/test/specification/create-document.js';
import { eventsOf, readSpecifications } from '../../core/test/specification/documents.js';
import type { Follower } from '../src/index.js';
import { closeAll, follow, type Listening, listen, type Root, startRoot } from './servers.js';

const TOKEN = 'default:production.0123456789abcdef';

/** Sends messages over one stream. */
async function startStream(): Promise<Listening & { send: (event: string, events: readonly object[]) => void }> {
  let sent = 0;
  let stream: ServerResponse | undefined;
  const frame = (event: string, events: readonly object[]) =>
    `id:ab-${++sent}\nevent:${event}\ndata:${JSON.stringify({ events }, toUnleash)}\n\n`;
  const server = await listen((request, response) => {
    if (request.url === '/api/client/streaming') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write(frame('unleash-connected', [{ type: 'hydration', features: [], segments: [] }]));
    } else response.end(JSON.stringify({ tokens: [{ token: TOKEN, type: 'client', projects: ['*'] }] }));
  });
  return { ...server, send: (event, events) => void stream?.write(frame(event, events)) };
}

/** The words of Unleash's documents in place of those of the engine. */
function toUnleash(key: string, value: unknown): unknown {
  if (key !== 'dependencies' || !Array.isArray(value)) return value;
  return (value as { flag: string }[]).map(({ flag: feature, ...rest }) => ({ feature, ...rest }));
}

/** Waits until the follower has a flag that is sent last. */
let marks = 0;
function markIn(follower: Follower) {
  const type = `mark-${++marks}`;
  const flag = { name: 'mark', type, enabled: true, strategies: [] };
  const hasMark = () => follower.configuration().flags.some((one) => one.name === 'mark' && one.type === type);
  return { flag, seen: () => until(hasMark) };
}

describe('the public client specification', () => {
  let stream: Awaited<ReturnType<typeof startStream>>;
  let follower: Follower;
  beforeAll(async () => {
    stream = await startStream();
    follower = await follow({ url: stream.url, token: TOKEN });
  });
  afterAll(async () => {
    await closeAll();
    await stream.stop();
  });

  it('has its expected results, sent as a server sends it', async () => {
    let cases = 0;
    for (const document of readSpecifications()) {
      const mark = markIn(follower);
      const [first, ...updates] = eventsOf(document);
      stream.send('unleash-connected', [first ?? {}]);
      for (const update of updates) stream.send('unleash-updated', [update]);
      stream.send('unleash-updated', [{ type: 'feature-updated', feature: mark.flag }]);
      await mark.seen();
      for (const { description, toggleName, context, expectedResult } of document.tests ?? []) {
        expect([description, follower.isEnabled(toggleName, context)]).toEqual([description, expectedResult]);
        cases++;
      }
      for (const { description, toggleName, context, expectedResult } of document.variantTests ?? []) {
        expect([description, follower.getVariant(toggleName, context)]).toEqual([description, expectedResult]);
        cases++;
      }
    }
    expect(cases).toBe(279);
  });

  it('has the same answers on an engine and on its follower', async () => {
    const documents = readSpecifications();
    for (const document of extent({ short: documents.slice(0, 6), full: documents })) {
      const root = await startRoot({ pollInterval: 0, onProblem: () => undefined });
      const { nameOf } = await createDocument(root.flags, document);
      const own = await follow(root);
      for (const { toggleName, context } of document.tests ?? []) {
        const name = nameOf(toggleName);
        expect([name, own.isEnabled(name, context)]).toEqual([name, root.flags.isEnabled(name, context)]);
        const metadataIn = (source: Follower | Root['flags']) => resolveSwitch(source, name, { context: {} })?.metadata;
        // With the version, a hash of what both know of the flag.
        expect([name, metadataIn(own)]).toEqual([name, metadataIn(root.flags)]);
      }
      // Without an id, a variant is drawn at random: only these cases have one.
      for (const { toggleName, context } of document.variantTests ?? []) {
        const name = nameOf(toggleName);
        expect([name, own.getVariant(name, context)]).toEqual([name, root.flags.getVariant(name, context)]);
      }
      await own.close();
      await root.end();
    }
  });
});

it('has the same answers for random flags and contexts as the engine', async () => {
  const stream = await startStream();
  const follower = await follow({ url: stream.url, token: TOKEN });
  const document = fc.record({ flags: arbitraryFlags, segments: arbitrarySegments });
  const contexts = fc.array(arbitraryContext, { minLength: 4, maxLength: 4 });
  let pairs = 0;
  await fc.assert(
    fc.asyncProperty(document, contexts, async ({ flags, segments }, users) => {
      const mark = markIn(follower);
      const own = compileSnapshot({ flags, segments, now: Date.now, hostname: hostname(), patterns: () => patterns });
      stream.send('unleash-connected', [{ type: 'hydration', features: [...flags, mark.flag], segments }]);
      await mark.seen();
      for (const context of users) {
        for (const name of FLAG_NAMES) {
          expect([name, follower.isEnabled(name, context)]).toEqual([name, own.isEnabled(name, context)]);
          expect([name, follower.getVariant(name, context)]).toEqual([name, own.getVariant(name, context)]);
          pairs++;
        }
      }
    }),
    { numRuns: extent({ short: 50, full: 500 }) },
  );
  expect(pairs).toBeGreaterThanOrEqual(extent({ short: 1_000, full: 10_000 }));
  await closeAll();
  await stream.stop();
});

import type { EvaluationProblem, Flags, StrategyInput } from '@flags/core';
import request from 'supertest';
import { extent } from '../../../../test/extent.js';
import { hasShortTurns } from '../../../../test/processor-time.js';
import { createHostApp } from '../host-app.js';

/** As long as a context may be. */
const LONG = 'ä'.repeat(32_000);
const FLAGS = 60;

/** As many patterns as a flag may have, each as costly as it may be for a text of these letters. */
const PATTERNS: StrategyInput = {
  name: 'default',
  constraints: Array.from({ length: 20 }, (_, at) => ({
    contextName: 'userId',
    operator: 'REGEX',
    value: `[ab]*${'abc'[at % 3]}${'[abc]{50}'.repeat(4)}[!?]{${at + 1}}`,
    inverted: true,
  })),
};
const HASHES: StrategyInput = {
  name: 'flexibleRollout',
  parameters: { rollout: '50', stickiness: 'userId', groupId: 'a' },
};

async function createFlagsWith(flags: Flags, strategy: StrategyInput, count = FLAGS): Promise<void> {
  for (let at = 0; at < count; at++) {
    const place = { project: 'default', flag: `flag-${at}`, environment: 'production' };
    await flags.createFlag({ project: 'default' }, { name: place.flag });
    await flags.addStrategy(place, strategy);
    await flags.enable(place);
  }
}

const REQUESTS: readonly (readonly [string, (userId: string) => object])[] = [
  ['/api/frontend', (userId) => ({ context: { userId } })],
  ['/ofrep/v1/evaluate/flags', (targetingKey) => ({ context: { targetingKey } })],
  ['/api/admin/playground', (userId) => ({ environment: 'production', context: { userId } })],
];

describe.each(extent({ short: REQUESTS.slice(0, 1), full: REQUESTS }))('a context sent to %s', (path, bodyOf) => {
  it('treats a value of 64 KB as absent, and reports it once', async () => {
    const problems: EvaluationProblem[] = [];
    const { app, flags } = await createHostApp({ flags: { onProblem: (problem) => problems.push(problem) } });
    await createFlagsWith(flags, HASHES);
    for (let calls = 0; calls < 2; calls++) {
      const { body } = await request(app).post(path).send(bodyOf(LONG)).expect(200);
      expect(JSON.stringify(body)).not.toMatch(/"(?:enabled|value)":true/);
    }
    expect(problems.map(({ code }) => code)).toEqual(['context_value_too_long']);
    await flags.close();
  });

  it('does not block the process, whatever the patterns of all flags are', async () => {
    const { app, flags } = await createHostApp();
    await createFlagsWith(flags, PATTERNS, 20);
    const userId = Array.from({ length: 500 }, () => 'abc'[Math.floor(Math.random() * 3)]).join('');
    const ask = () => request(app).post(path).send(bodyOf(userId)).expect(200);
    await ask();
    // Four at once, which share the slices. In one go each takes about a second.
    expect(await hasShortTurns(300, () => Promise.all([ask(), ask(), ask(), ask()]))).toBe(true);
    await flags.close();
  }, 60_000);
});

describe('a context of the OpenFeature Remote Evaluation Protocol', () => {
  it('has its arrays converted to text once', async () => {
    const { app, flags } = await createHostApp();
    await createFlagsWith(flags, {
      name: 'default',
      constraints: Array.from({ length: 50 }, () => ({ contextName: 'list', operator: 'NOT_IN', values: ['x'] })),
    });
    const context = { list: [Array.from({ length: 30_000 }, () => 1)] };
    const ask = () => request(app).post('/ofrep/v1/evaluate/flags').send({ context }).expect(200);
    expect(await hasShortTurns(600, ask)).toBe(true);
    await flags.close();
  });

  it('may have 1,000 members', async () => {
    const { app, flags, faults } = await createHostApp();
    await createFlagsWith(flags, HASHES);
    const context = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`m${at}`, 1]));
    const { body } = await request(app).post('/ofrep/v1/evaluate/flags').send({ context }).expect(200);
    expect([body.flags.length, faults]).toEqual([FLAGS, []]);
    await flags.close();
  });
});

describe('a very large explanation', () => {
  it('is shortened: omits operands, and the remaining flags need another request', async () => {
    const { app, flags } = await createHostApp();
    const values = Array.from({ length: 10_000 }, (_, at) => `${'v'.repeat(60)}${at}`);
    const constraints = [{ contextName: 'userId', operator: 'NOT_IN', values }] as const;
    const { id } = await flags.segments.create({ name: 'everybody', constraints });
    await createFlagsWith(flags, { name: 'default', segments: [id] });
    const large = [{ contextName: 'userId', operator: 'NOT_IN', values: values.slice(0, 3500) }] as const;
    const shared = await flags.segments.create({ name: 'many', constraints: large });
    for (let at = 0; at < FLAGS; at++) {
      const place = { project: 'default', flag: `other-${at}`, environment: 'production' };
      await flags.createFlag({ project: 'default' }, { name: place.flag });
      await flags.addStrategy(place, { name: 'default', segments: [shared.id] });
      await flags.enable(place);
    }

    const names: string[] = [];
    let from: string | undefined;
    let requests = 0;
    do {
      const question = { environment: 'production', context: { userId: 'ada' }, from };
      const { body, text } = await request(app).post('/api/admin/playground').send(question).expect(200);
      expect(text.length).toBeLessThan(5 * 1024 * 1024);
      names.push(...body.features.map(({ name }: { name: string }) => name));
      from = body.next;
      requests += 1;
      if (requests === 1) {
        const [explained] = body.features[0].strategies[0].segments[0].constraints;
        expect(explained).toEqual({
          constraint: { contextName: 'userId', operator: 'NOT_IN', values: [] },
          holds: true,
          isCut: true,
        });
      }
    } while (from !== undefined);
    expect(requests).toBeGreaterThan(2);
    expect(names).toEqual(flags.configuration().flags.map(({ name }) => name));
    await flags.close();
  });
});

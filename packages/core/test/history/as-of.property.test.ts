import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { Flags, FlagsView } from '../../src/index.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { Storage } from '../../src/storage/port.js';
import { engineOn } from '../properties/engine-under-test.js';
import { carryOut, operations } from '../properties/random-operations.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

// Answers without an id, or with the stickiness `random`, are no function of the state.
beforeAll(() => jest.spyOn(Math, 'random').mockReturnValue(0.5));
afterAll(() => jest.restoreAllMocks());

const NAMES = ['a', 'b', '__proto__', 'constructor'];
const CONTEXTS = [{}, { userId: '1' }, { userId: '7', properties: { plan: 'b' } }];
const CURRENT_TIME = '2026-01-01T00:00:00.000Z';

/** All answers about every flag. The log does not have revisions of touched documents, and no metrics. */
async function answersOf(flags: Flags | FlagsView, projects: readonly string[]) {
  const answers: unknown[] = [];
  for (const [index, flag] of NAMES.entries()) {
    const project = projects[index] ?? 'default';
    const detail = await flags.getFlag({ project, flag }).then(
      ({ revision, lastSeenAt, ...shown }) => shown,
      ({ code }) => code,
    );
    const evaluations = CONTEXTS.map(async (context) => {
      const withTime = { currentTime: CURRENT_TIME, sessionId: 's', ...context };
      return [await flags.isEnabled(flag, withTime), await flags.explain(flag, withTime)];
    });
    answers.push([flag, detail, await Promise.all(evaluations)]);
  }
  return answers;
}

async function projectsOf(storage: Storage): Promise<readonly string[]> {
  return Promise.all(NAMES.map(async (id) => (await storage.get({ kind: 'flag', id }))?.parent ?? 'default'));
}

describe('asOf of any history', () => {
  it('gives the answers of then, by time and by position', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        const moments: { position: string; at: string; projects: readonly string[]; answers: unknown }[] = [];
        for (const one of sequence) {
          await carryOut(flags, one).catch(() => undefined);
          const [last] = (await flags.listEvents({ limit: 1 })).events;
          const projects = await projectsOf(storage);
          const answers = await answersOf(flags, projects);
          if (last) moments.push({ position: last.position, at: last.at, projects, answers });
        }
        for (const { position, at, projects, answers } of moments) {
          expect(await answersOf(flags.asOf({ position }), projects)).toEqual(answers);
          expect(await answersOf(flags.asOf(at), projects)).toEqual(answers);
        }
        await flags.close();
      }),
      { numRuns: extent({ short: 5, full: 200 }) },
    );
  });
});

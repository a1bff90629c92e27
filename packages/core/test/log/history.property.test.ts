import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { environmentOf, type FlagState } from '../../src/features/flags/flag.js';
import { REGISTRY } from '../../src/features.js';
import type { Flags, FlagsView } from '../../src/index.js';
import { stateAt } from '../../src/kernel/log/event-log.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { engineOn } from '../invariants/engine-under-test.js';
import { carryOut, operations, operationsWithRollouts } from '../invariants/random-operations.js';
import { applicable } from '../invariants/random-sets.js';
import { KINDS } from '../on-every-storage.js';
import { contentOf, expectConsistent } from './shown-content.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

describe('asOf of any history', () => {
  // Answers without an id, or with the stickiness `random`, do not depend on the state only.
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

  async function projectsOf(storage: FlagsStorage): Promise<readonly string[]> {
    return Promise.all(NAMES.map(async (id) => (await storage.get({ kind: 'flag', id }))?.parent ?? 'default'));
  }

  it('returns the past answers, by time and by position', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        const moments: { position: string; at: string; projects: readonly string[]; answers: unknown }[] = [];
        for (const one of sequence) {
          await carryOut(flags, one).catch(() => undefined);
          const [last] = (await flags.events.list({ limit: 1 })).items;
          const projects = await projectsOf(storage);
          const answers = await answersOf(flags, projects);
          if (last) moments.push({ position: last.position, at: last.at, projects, answers });
        }
        for (const { position, at, projects, answers } of moments) {
          expect(await answersOf(flags.history.asOf({ position }), projects)).toEqual(answers);
          expect(await answersOf(flags.history.asOf(at), projects)).toEqual(answers);
        }
        await flags.close();
      }),
      { numRuns: extent({ short: 5, full: 200 }) },
    );
  });
});

/** The value of every document and summary, without revisions. A flag is in full, because an undo keeps its empty parts. */
async function valuesOf(storage: FlagsStorage): Promise<Readonly<Record<string, unknown>>> {
  const values: [string, unknown][] = [];
  for (const kind of ['project', 'segment', 'flag', 'dependency']) {
    for (const part of ['body', 'summary'] as const) {
      for (const { key, content } of await storage.list({ kind, part })) {
        values.push([`${part} of ${kind} ${key.id}`, kind === 'flag' && part === 'body' ? toFull(content) : content]);
        if (part === 'summary' || !REGISTRY.hasHistory(key)) continue;
        expect((await stateAt({ storage, registry: REGISTRY }, key))?.state).toEqual(content);
      }
    }
  }
  return Object.fromEntries(values);
}

/** Environments have no order of their own: every answer lists them as they are configured. */
function toFull(content: unknown): unknown {
  const flag = content as FlagState;
  const names = new Set([...flag.environments.map(({ name }) => name), 'development', 'constructor']);
  return { ...flag, environments: Object.fromEntries([...names].map((name) => [name, environmentOf(flag, name)])) };
}

describe.each(KINDS)('undo of any change set on $name', ({ open }) => {
  it('stores the previous values, and its undo stores the later ones again', async () => {
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const { storage, dispose } = await open();
        const { flags, changes } = await applicable(storage, sequence);
        try {
          const before = await valuesOf(storage);
          const { id } = await flags.apply(changes);
          const after = await valuesOf(storage);
          const undone = id === null ? undefined : await flags.history.undo({ changeSet: id });
          expect(await valuesOf(storage)).toEqual(before);
          if (typeof undone?.id === 'string') await flags.history.undo({ changeSet: undone.id });
          expect(await valuesOf(storage)).toEqual(after);
          changed += id === null ? 0 : 1;
        } finally {
          await flags.close();
          await dispose();
        }
      }),
      { numRuns: extent({ short: 12, full: 400 }) },
    );
    expect(changed).toBeGreaterThan(0);
  });
});

describe('undo in any history', () => {
  /** The newest change set that is not about API tokens alone. */
  async function newestSet(flags: Flags): Promise<string | null | undefined> {
    const [newest] = (await flags.history.list({}, { limit: 1 })).items;
    const isUndoable = newest?.events.some(({ type }) => !type.startsWith('token-'));
    return isUndoable ? newest?.id : undefined;
  }

  const CODES = [
    'undo_conflict',
    'flag_has_children',
    'segment_in_use',
    'project_not_empty',
    'project_protected',
    'last_owner',
    'dependency_too_deep',
    'dependency_cycle',
  ];

  it('restores the previous documents, and its undo restores the later ones', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        for (const one of sequence) {
          const [before, known] = [await contentOf(flags), await newestSet(flags)];
          await carryOut(flags, one).catch(() => undefined);
          const id = await newestSet(flags);
          if (!id || id === known) continue;
          const after = await contentOf(flags);
          const undone = await flags.history.undo({ changeSet: id });
          expect(await contentOf(flags)).toEqual(before);
          await flags.history.undo({ changeSet: `${undone.id}` });
          expect(await contentOf(flags)).toEqual(after);
        }
        await expectConsistent(storage);
        await flags.close();
      }),
      { numRuns: extent({ short: 5, full: 60 }) },
    );
  });

  it('keeps every rule, whichever set is undone', async () => {
    await fc.assert(
      fc.asyncProperty(
        operationsWithRollouts,
        fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
        async (sequence, choices) => {
          const storage = memoryStorage();
          const flags = await engineOn(storage);
          for (const one of sequence) await carryOut(flags, one).catch(() => undefined);
          for (const choice of choices) {
            const { items } = await flags.history.list({});
            const before = await contentOf(flags);
            const { id } = items[choice % items.length] ?? {};
            await flags.history.undo({ changeSet: `${id}` }).catch(async ({ code }) => {
              expect(CODES).toContain(code);
              expect(await contentOf(flags)).toEqual(before);
            });
          }
          await expectConsistent(storage);
          await flags.close();
        },
      ),
      { numRuns: extent({ short: 15, full: 300 }) },
    );
  });
});

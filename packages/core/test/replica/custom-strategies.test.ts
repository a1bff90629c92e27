import type { CustomStrategy, EvaluationProblem } from '../../src/index.js';
import { onEveryStorage, type Start } from '../rules/on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const DEPARTMENT: CustomStrategy = {
  name: 'department',
  isEnabled: ({ departments }, { properties }) =>
    String(departments).split(',').includes(String(properties?.department)),
};
const FAILING: CustomStrategy = {
  name: 'failing',
  isEnabled: () => {
    throw new Error('The directory is down.');
  },
};
const SALES = { properties: { department: 'sales' } };

async function withStrategies(start: Start, strategies: readonly CustomStrategy[]) {
  const problems: EvaluationProblem[] = [];
  const flags = await start({ ...SILENT, strategies, onProblem: (problem) => problems.push(problem) });
  return { flags, problems };
}

onEveryStorage((start) => {
  describe('a strategy of the host', () => {
    it('holds as it says, for its parameters and the context', async () => {
      const { flags } = await withStrategies(start, [DEPARTMENT]);
      const strategies = [{ name: 'department', parameters: { departments: 'sales,legal' } }];
      await createSwitchedOn(flags, { flag: 'checkout', strategies });
      expect(flags.isEnabled('checkout', SALES)).toBe(true);
      expect(flags.isEnabled('checkout', { properties: { department: 'it' } })).toBe(false);
      expect(flags.explain('checkout', SALES).strategies).toMatchObject([{ name: 'department', test: true }]);
    });

    it('cannot change the parameters that later evaluations get', async () => {
      const greedy: CustomStrategy = {
        name: 'department',
        isEnabled: (parameters, context) => {
          Reflect.set(parameters, 'departments', 'it');
          return DEPARTMENT.isEnabled(parameters, context);
        },
      };
      const { flags } = await withStrategies(start, [greedy]);
      const strategies = [{ name: 'department', parameters: { departments: 'sales' } }];
      await createSwitchedOn(flags, { flag: 'checkout', strategies });
      expect([flags.isEnabled('checkout', SALES), flags.isEnabled('checkout', SALES)]).toEqual([true, true]);
    });

    it('holds only where its constraints do as well', async () => {
      const { flags } = await withStrategies(start, [DEPARTMENT]);
      const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['ada'] }];
      const strategies = [{ name: 'department', parameters: { departments: 'sales' }, constraints }];
      await createSwitchedOn(flags, { flag: 'checkout', strategies });
      expect(flags.isEnabled('checkout', SALES)).toBe(false);
      expect(flags.isEnabled('checkout', { ...SALES, userId: 'ada' })).toBe(true);
    });

    it('does not hold when it throws, which is told once', async () => {
      const { flags, problems } = await withStrategies(start, [FAILING]);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'failing' }] });
      for (let call = 0; call < 3; call++) expect(flags.isEnabled('checkout')).toBe(false);
      expect(flags.getVariant('checkout').enabled).toBe(false);
      expect(problems).toMatchObject([{ code: 'strategy_failed', flag: 'checkout' }]);
      expect(problems[0]?.message).toContain('The directory is down.');
    });

    it('does not keep the strategies after it from holding when it throws', async () => {
      const { flags } = await withStrategies(start, [FAILING]);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'failing' }, { name: 'default' }] });
      expect(flags.isEnabled('checkout')).toBe(true);
    });

    it('holds only when it answers true itself', async () => {
      const truthy = { name: 'truthy', isEnabled: () => 'yes' } as unknown as CustomStrategy;
      const later = { name: 'later', isEnabled: async () => true } as unknown as CustomStrategy;
      const { flags } = await withStrategies(start, [truthy, later]);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'truthy' }, { name: 'later' }] });
      expect(flags.isEnabled('checkout')).toBe(false);
    });

    it('takes the place of a built-in one', async () => {
      const { flags } = await withStrategies(start, [{ name: 'default', isEnabled: () => false }]);
      await createSwitchedOn(flags, { flag: 'checkout' });
      expect(flags.isEnabled('checkout')).toBe(false);
    });
  });

  describe('an unknown strategy', () => {
    it('does not hold, which is told once, however often the flag is changed and evaluated', async () => {
      const { flags, problems } = await withStrategies(start, []);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'department' }] });
      expect([flags.isEnabled('checkout', SALES), flags.isEnabled('checkout', SALES)]).toEqual([false, false]);
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      await flags.disable(PRODUCTION);
      await flags.enable(PRODUCTION);
      expect(problems).toMatchObject([{ code: 'unknown_strategy', flag: 'checkout' }]);
    });

    it.each(['__proto__', 'constructor', 'toString'])('may be called %s', async (name) => {
      const { flags } = await withStrategies(start, []);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name }] });
      expect(flags.isEnabled('checkout')).toBe(false);
    });

    it('is told for each flag that has it', async () => {
      const { flags, problems } = await withStrategies(start, []);
      for (const flag of ['one', 'two']) await createSwitchedOn(flags, { flag, strategies: [{ name: 'department' }] });
      expect(problems.map(({ flag }) => flag)).toEqual(['one', 'two']);
      expect((await flags.listFlags(DEFAULT)).map(({ name }) => name)).toEqual(['one', 'two']);
    });

    it('is a process warning without a listener', async () => {
      const emitWarning = jest.spyOn(process, 'emitWarning').mockReturnValue();
      const flags = await start({ pollInterval: 0, usageInterval: 0 });
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'unheard-of' }] });
      expect(emitWarning.mock.calls).toEqual([
        [expect.stringContaining('unheard-of'), { type: 'FlagsWarning', code: 'unknown_strategy' }],
      ]);
      emitWarning.mockRestore();
    });
  });
});

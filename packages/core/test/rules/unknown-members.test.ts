import type { SegmentChanges, StrategyInput } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';

const DEPTH = 200_000;
/** More nested than what recurses, as `JSON.stringify` does, can follow. */
const unknown = { unknown: JSON.parse('['.repeat(DEPTH) + ']'.repeat(DEPTH)) as unknown };
const project = { project: 'default' };
const ref = { ...project, flag: 'checkout' };
const environment = { ...ref, environment: 'production' };

onEveryStorage((start) => {
  it('ignores unknown members of a strategy, however deep they are', async () => {
    const flags = await start();
    await flags.createFlag(project, { name: 'checkout' });
    const input: StrategyInput = { name: 'default', ...unknown };
    const added = await flags.addStrategy(environment, input);
    expect(added).not.toHaveProperty('unknown');
    const updated = await flags.updateStrategy({ ...environment, strategy: added.id }, { ...input, title: 'all' });
    expect(updated).toEqual({ ...added, title: 'all' });
  });

  it('ignores unknown members of a segment, however deep they are', async () => {
    const flags = await start();
    const constraints: SegmentChanges['constraints'] = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];
    const created = await flags.createSegment({ name: 'beta', constraints: [], ...unknown });
    expect(created).not.toHaveProperty('unknown');
    const updated = await flags.updateSegment({ segment: created.id }, { constraints, ...unknown });
    expect(updated).toMatchObject({ name: 'beta', constraints });
  });

  it('ignores unknown members of a dependency, however deep they are', async () => {
    const flags = await start();
    await flags.createFlag(project, { name: 'checkout' });
    await flags.createFlag(project, { name: 'payments' });
    const dependency = await flags.addDependency(ref, { flag: 'payments', ...unknown });
    expect(dependency).toEqual({ flag: 'payments', enabled: true, variants: [] });
  });
});

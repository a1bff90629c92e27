import { until } from '../../../../test/until.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { openOnOneFile } from './on-one-file.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

const NOBODY = [{ contextName: 'userId', operator: 'IN' as const, values: ['nobody'] }];

describe('another instance on the same file', () => {
  const open = openOnOneFile();

  async function writerAndReader() {
    const writer = await open(SILENT);
    await createSwitchedOn(writer, { flag: 'checkout' });
    return { writer, reader: await open(SILENT) };
  }

  it('knows everything when it opens', async () => {
    const { reader } = await writerAndReader();
    expect([reader.isEnabled('checkout'), reader.status().state]).toEqual([true, 'current']);
  });

  it('sees a change after a refresh, and not before', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.disable(PRODUCTION);
    expect(reader.isEnabled('checkout')).toBe(true);
    expect(await reader.refresh()).toMatchObject({ state: 'current' });
    expect(reader.isEnabled('checkout')).toBe(false);
  });

  it('sees with a change of its own those that the other made to the same flag', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    expect(reader.getVariant('checkout').name).toBe('disabled');
    await reader.updateFlag(CHECKOUT, { description: 'Pays' });
    expect(reader.getVariant('checkout').name).toBe('blue');
    await writer.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
  });

  it('sees a change by polling, each way', async () => {
    const writer = await open(SILENT);
    const reader = await open({ ...SILENT, pollInterval: 5 });
    await createSwitchedOn(writer, { flag: 'checkout' });
    await until(() => reader.isEnabled('checkout'));
    await writer.disable(PRODUCTION);
    await until(() => !reader.isEnabled('checkout'));
    await createSwitchedOn(reader, { flag: 'second' });
    await writer.refresh();
    expect(writer.isEnabled('second')).toBe(true);
  });

  it('sees a flag that was deleted, and one created under its name', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.archiveFlag(CHECKOUT);
    await writer.deleteFlag({ flag: 'checkout' });
    await reader.refresh();
    expect(reader.isEnabled('checkout', {}, { fallback: true })).toBe(true);
    await createSwitchedOn(writer, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await reader.refresh();
    expect([reader.isEnabled('checkout'), reader.isEnabled('checkout', { userId: 'ada' })]).toEqual([false, true]);
  });

  it('sees a flag that was deleted and created again between two refreshes', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.archiveFlag(CHECKOUT);
    await writer.deleteFlag({ flag: 'checkout' });
    await createSwitchedOn(writer, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await reader.refresh();
    expect(reader.configuration()).toEqual({ ...writer.configuration(), version: expect.any(Number) });
  });

  it('sees segments and dependencies change', async () => {
    const { writer, reader } = await writerAndReader();
    const { id } = await writer.createSegment({ name: 'beta', constraints: [] });
    await createSwitchedOn(writer, { flag: 'payments', strategies: [{ name: 'default', segments: [id] }] });
    await writer.addDependency(CHECKOUT, { flag: 'payments' });
    await reader.refresh();
    expect(reader.isEnabled('checkout')).toBe(true);
    await writer.updateSegment({ segment: id }, { constraints: NOBODY });
    await reader.refresh();
    expect(reader.isEnabled('checkout')).toBe(false);
  });

  it('takes more changes at once than it reads in one go', async () => {
    const { writer, reader } = await writerAndReader();
    const names = Array.from({ length: 1001 }, (_, at) => `flag-${at}`);
    await Promise.all(names.map((name) => writer.createFlag(DEFAULT, { name })));
    await reader.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
  });

  it('changes a state that it has not seen yet', async () => {
    const { writer, reader } = await writerAndReader();
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    await reader.updateFlag(CHECKOUT, { description: 'of the reader' });
    expect(reader.getVariant('checkout').name).toBe('blue');
    await reader.refresh();
    await writer.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
  });

  it('keeps its stamp while the others change nothing that is evaluated', async () => {
    const { writer, reader } = await writerAndReader();
    const before = reader.configuration();
    await writer.createProject({ id: 'second', name: 'Second' });
    await writer.addMember(DEFAULT, { userId: 7, roleId: 4 });
    await reader.refresh();
    expect(reader.configuration()).toBe(before);
  });
});

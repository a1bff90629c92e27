import assert from 'node:assert/strict';
import type { Rule } from './rule.js';
import { commit, flag, project, put, same } from './samples.js';

export function documentRules(rule: Rule): void {
  rule('gives undefined for a document that was never written', async (storage) => {
    assert.equal(await storage.get(flag('absent')), undefined);
  });

  rule('gives a written document with its key, parent, revision and body', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', body: { on: true }, summary: 1 })] });
    same(await storage.get(flag('a')), {
      key: { kind: 'flag', id: 'a' },
      parent: 'shop',
      revision: 1,
      body: { on: true },
    });
  });

  rule('keeps documents of the same id and different kinds apart', async (storage) => {
    await commit(storage, {
      writes: [put(flag('same'), { body: 'a flag' }), put(project('same'), { body: 'a project' })],
    });
    assert.equal((await storage.get(flag('same')))?.body, 'a flag');
    assert.equal((await storage.get(project('same')))?.body, 'a project');
  });

  rule('tells ids apart that differ in case, in normal form or in spaces at the end', async (storage) => {
    const ids = ['Name', 'name', 'name ', 'e\u0301', '\u00e9'];
    await commit(storage, { writes: ids.map((id) => put(flag(id), { body: id })) });
    for (const id of ids) assert.equal((await storage.get(flag(id)))?.body, id);
  });

  rule('keeps nothing of the objects it was given', async (storage) => {
    const body = { tags: ['first'] };
    await commit(storage, { writes: [put(flag('a'), { body, summary: body })] });
    body.tags.push('later');
    same((await storage.get(flag('a')))?.body, { tags: ['first'] });
    same((await storage.list({ kind: 'flag', part: 'summary' }))[0]?.content, { tags: ['first'] });
  });

  rule('gives every reader a copy of its own', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { body: { tags: ['first'] } })] });
    const mine = (await storage.get(flag('a'))) as { body: { tags: string[] } };
    mine.body.tags.push('mine');
    same((await storage.get(flag('a')))?.body, { tags: ['first'] });
  });
}

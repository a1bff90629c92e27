import { prepareCommit } from '../../src/storage/commit.js';
import { happened, put } from './samples.js';

/** A JSON value that counts how often its text is made. */
function counted() {
  let texts = 0;
  const toJSON = () => {
    texts++;
    return { name: 'a' };
  };
  return { body: { toJSON }, texts: () => texts };
}

describe('a prepared commit', () => {
  it('makes the text of a document once that its event tells whole', () => {
    const { body, texts } = counted();
    const { writes, events } = prepareCommit({
      writes: [{ ...put('a'), body }],
      events: [{ ...happened('a'), data: body, before: null }],
    });
    expect([writes[0]?.content, events[0]?.data, events[0]?.before]).toEqual([
      { body: '{"name":"a"}', summary: expect.any(String) },
      '{"name":"a"}',
      'null',
    ]);
    expect(texts()).toBe(1);
  });

  it('makes the text of an event of its own for each that tells something else', () => {
    const { events } = prepareCommit({
      writes: [put('a'), { key: put('b').key, expected: 1, deleted: true }],
      events: [happened('a'), { ...happened('b'), data: undefined }],
    });
    expect(events.map(({ data, write }) => [data, write])).toEqual([
      ['{"id":"a"}', 0],
      ['null', 1],
    ]);
  });
});

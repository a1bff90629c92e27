import fc from 'fast-check';
import { framesOf } from '../app/api/frames.js';

const TEXT = ':hello\n\nid:7\ndata:{"a":1}\n\nid: 8\r\ndata: one\r\ndata: two\r\n\r\nevent:x\n\n';
const FRAMES = [
  { id: undefined, data: undefined },
  { id: '7', data: '{"a":1}' },
  { id: '8', data: 'one\ntwo' },
  { id: undefined, data: undefined },
];

async function* chunksOf(text: string, cuts: readonly number[]): AsyncGenerator<string> {
  const places = [0, ...[...cuts].sort((one, other) => one - other), text.length];
  for (let index = 1; index < places.length; index++) yield text.slice(places[index - 1], places[index]);
}

it('reads events, however the network splits them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(TEXT.length), { maxLength: 6 }), async (cuts) => {
      const frames = [];
      for await (const frame of framesOf(chunksOf(TEXT, cuts))) frames.push(frame);
      expect(frames).toEqual(FRAMES);
    }),
  );
});

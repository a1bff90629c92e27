import { hydrationFrame, updateFrame } from '../../src/streaming/frames.js';

const PLACE = { id: '0-1', eventId: 1 };

it.each([
  ['hydration', hydrationFrame({ flags: [], segments: [] }, PLACE).next()],
  ['update', updateFrame([{ type: 'segment-removed', segment: { id: 1, name: 'é', constraints: [] } }], PLACE)],
])('the frame of a %s keeps nothing in memory but itself', (_, frame) => {
  expect(frame?.buffer.byteLength).toBe(frame?.byteLength);
  expect(frame?.toString()).toMatch(/^id:0-1\nevent:[a-z-]+\ndata:\{"events":\[\{.+\}\]\}\n\n$/);
});

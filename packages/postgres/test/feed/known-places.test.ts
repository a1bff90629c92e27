import { createKnownPositions } from '../../src/feed/snapshot-feed.js';

/** Whether a commit that begins now would have to look at the table. */
function looks(places: ReturnType<typeof createKnownPositions>, place: string | undefined, source?: string): boolean {
  return places.begin()({ source, place });
}

describe('the place of a commit', () => {
  it('is looked at once for each source that places come from', () => {
    const places = createKnownPositions();
    expect(looks(places, '7', 'one')).toBe(true);
    places.trust({ source: 'one', place: '7' });
    expect(looks(places, '8', 'one')).toBe(false);
    expect(looks(places, '9', 'other')).toBe(true);
  });

  it('is looked at when it is not behind all that were seen before the commit began, be they large', () => {
    const places = createKnownPositions();
    places.trust({ source: 'one', place: '7' });
    const earlier = places.begin();
    places.see('9007199254740993');
    expect(earlier({ source: 'one', place: '8' })).toBe(false);
    expect(looks(places, '9007199254740993', 'one')).toBe(true);
    expect(looks(places, '9007199254740994', 'one')).toBe(false);
  });

  it('is behind all once it was looked at, on a server that has not heard of the newest', () => {
    const places = createKnownPositions();
    places.see('100');
    places.trust({ source: 'one', place: '50' });
    expect(looks(places, '51', 'one')).toBe(false);
  });

  it('is not looked at without events, or where it cannot be wrong', () => {
    const places = createKnownPositions();
    places.see('100');
    expect(looks(places, undefined, 'one')).toBe(false);
    expect(looks(places, '7')).toBe(false);
  });
});
